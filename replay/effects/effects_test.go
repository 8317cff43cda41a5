package effects

import (
	"slices"
	"strings"
	"testing"
)

// of returns the effects of a command in bash at /w.
func of(text string) Effects {
	return Of(Command{Text: text, Shell: "bash", Cwd: "/w", Home: "/home/a"})
}

// things lists what a command does as "access kind name", sorted.
func things(e Effects) string {
	var all []string
	for _, t := range e.Things {
		what := map[Access]string{Read: "reads", Write: "writes", Update: "updates", Remove: "removes"}[t.Access] + " " + t.Kind + " " + t.Name
		if t.Tree {
			what += "/**"
		}
		if !slices.Contains(all, what) {
			all = append(all, what)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func TestThings(t *testing.T) {
	for command, want := range map[string]string{
		"git format-patch -2 main":                     "reads branch main; reads commit HEAD; reads repository repository; reads tag main; writes path /w/*.patch",
		"git remote add r ../x":                        "reads repository repository; writes remote r; writes settings remote r",
		`python3 -c 'print(open("a/b"))' in/f`:         "reads path /w/in/f",
		"gofmt -w a.go cmd":                            "updates path /w/a.go; updates path /w/cmd/**",
		"curl -c jar localhost:8000/":                  "reads port 8000; writes path /w/jar",
		"curl -b jar localhost:8000/":                  "reads path /w/jar; reads port 8000",
		"curl -b a=b localhost:8000/":                  "reads port 8000",
		"git remote rm r":                              "reads repository repository; removes remote r; removes settings remote r",
		"iconv -f latin1 -t utf-8 f -o g":              "reads path /w/f; writes path /w/g",
		"tic mine.ti":                                  "reads path /w/mine.ti; updates path /home/a/.terminfo/**",
		"tic -c mine.ti":                               "reads path /w/mine.ti",
		"infocmp -x mine > f":                          "reads path /home/a/.terminfo/**; writes path /w/f",
		"crudini --get a.conf x y":                     "reads path /w/a.conf",
		"crudini --set a.conf x y z":                   "updates path /w/a.conf",
		"tar -xOf a.tar x":                             "reads path /w/a.tar",
		"make DESTDIR=$PWD/stage PREFIX=/usr install":  "updates path /w/stage/**",
		"DESTDIR=$HOME/s make install PREFIX=/usr":     "updates path /home/a/s/**",
		"DESTDIR=$HOME/s cmake --install b":            "updates path /home/a/s/**",
		"curl -X PUT -d a localhost:8000/x":            "reads port 8000; updates port 8000; writes address localhost:8000/x",
		"curl -X DELETE localhost:8000/x":              "reads port 8000; removes address localhost:8000/x; updates port 8000",
		"curl -T f localhost:8000/":                    "reads port 8000; updates port 8000",
		"sort -u names.txt > sorted.txt":               "reads path /w/names.txt; writes path /w/sorted.txt",
		"echo x >> log":                                "updates path /w/log",
		"cat <<E > f\nx\nE":                            "writes path /w/f",
		"cat f | tee g":                                "reads path /w/f; writes path /w/g",
		"cat /dev/urandom > /dev/shm/f 2> /dev/null":   "writes path /dev/shm/f",
		"mkdir -p a/b":                                 "writes directory /w/a/b",
		"rmdir -p a/b":                                 "removes path /w/a; removes path /w/a/b",
		"rmdir a/b":                                    "removes path /w/a/b",
		"touch f":                                      "updates path /w/f",
		"mv old new":                                   "reads path /w/old/**; removes path /w/old/**; writes path /w/new/**; writes path /w/new/old/**",
		"tar -C out -cf a.tar f":                       "reads path /w/out/f/**; writes path /w/a.tar",
		"go build -o bin/x ./cmd/x":                    "writes path /w/bin/x",
		"go build -o bin/ ./...":                       "updates path /w/bin/**",
		"rm -rf build ~/x":                             "removes path /home/a/x/**; removes path /w/build/**",
		"cd sub && rm ../f":                            "reads path /w/sub; removes path /w/f",
		"sed -i s/a/b/ f.txt":                          "updates path /w/f.txt",
		"tar xzf a.tgz -C out":                         "reads path /w/a.tgz; updates path /w/out/**",
		"tar --append --file=a.tar x":                  "reads path /w/x/**; updates path /w/a.tar",
		"tar -Af a.tar b.tar":                          "reads path /w/b.tar/**; updates path /w/a.tar",
		"split -l 5 f part-":                           "reads path /w/f; writes path /w/part-*",
		"tar czf a.tgz src":                            "reads path /w/src/**; writes path /w/a.tgz",
		"unzip a.zip":                                  "reads path /w/a.zip; updates path /w/**",
		"xz -k plan.txt":                               "reads path /w/plan.txt; writes path /w/plan.txt.xz",
		"gzip -9 f":                                    "reads path /w/f; removes path /w/f; writes path /w/f.gz",
		"gunzip f.gz":                                  "reads path /w/f.gz; removes path /w/f.gz; writes path /w/f",
		"zstd -d f.zst":                                "reads path /w/f.zst; writes path /w/f",
		"zstd f -o g.zst":                              "reads path /w/f; writes path /w/g.zst",
		"gzip -c f > g":                                "reads path /w/f; writes path /w/g",
		"ar rcsD lib/a.a x.o":                          "reads path /w/x.o; updates path /w/lib/a.a",
		"ar -t a.a":                                    "reads path /w/a.a",
		"sqlite3 :memory: < f.sql":                     "reads path /w/f.sql",
		"python3 -m venv --without-pip --prompt x env": "writes path /w/env/**",
		"sqlite3 db < /dev/null":                       "reads path /w/db",
		"ldconfig -n lib":                              "updates path /w/lib/**",
		"dd if=a of=b":                                 "reads path /w/a; writes path /w/b",
		"gcc -o app main.c":                            "reads path /w/main.c; writes path /w/app",
		"gcc -o app main.c && wc -c app":               "reads path /w/main.c; writes path /w/app",
		"sort a > b; cut -c1 b > c":                    "reads path /w/a; writes path /w/b; writes path /w/c",
		"test -f b || sort a > b; cut -c1 b > c":       "reads path /w/a; reads path /w/b; writes path /w/b; writes path /w/c",
		"git read-tree --prefix=bak v1":                "reads repository repository; updates staged /w/bak/**",
		"git checkout -- bak":                          "reads commit HEAD; reads repository repository; reads staged /w/bak; updates path /w/bak/**",
		"curl -o page.html http://example.org/":        "writes path /w/page.html",
		"curl http://localhost:8000/":                  "reads port 8000",
		"curl --data-urlencode 'a=b c' localhost:8000": "reads port 8000; updates port 8000",
		"curl -G -d q=a http://localhost:8000/":        "reads port 8000",
		"wget -q http://localhost:8000/a.html":         "reads port 8000; writes path /w/a.html",
		"wget -nv -np -P d http://localhost:8000/a":    "reads port 8000; writes path /w/d/a",
		"wget -r -nH -P d http://localhost:8000/":      "reads port 8000; writes path /w/d/**",
		"wget -x -P d -i urls":                         "reads path /w/urls; writes path /w/d/**",
		"wget --spider http://localhost:8000/":         "reads port 8000",
		"python -m http.server 8000 &":                 "writes job &; writes port 8000",
		"msgfmt -o de.mo po/de.po":                     "reads path /w/po/de.po; writes path /w/de.mo",
		"msgfmt --statistics -o /dev/null po/de.po":    "reads path /w/po/de.po",
		"msggrep -T -e Hallo po/de.po":                 "reads path /w/po/de.po",
		"msgmerge -U po/de.po x.pot":                   "reads path /w/po/de.po; reads path /w/x.pot; updates path /w/po/de.po",
		"make DESTDIR=/s install":                      "updates path /s/**",
		"make INSTALL_MOD_PATH=/s modules_install":     "updates path /s/**",
		"make help":                                    "",
		"git rerere status":                            "reads repository repository",
		"pip install Requests":                         "reads path /home/a/.config/pip/pip.conf; writes package pip requests",
		"git commit -m x":                              "reads repository repository; reads settings *; reads staged *; updates commit HEAD",
		"git checkout -b feature":                      "reads repository repository; updates commit HEAD; writes branch feature",
		"git -C sub branch -D old":                     "reads repository repository; removes branch old",
		"git tag v1":                                   "reads commit HEAD; reads repository repository; writes tag v1",
		"D=/srv/x; (cd $D/y && touch f); touch g":      "reads path /srv/x/y; updates path /srv/x/y/f; updates path /w/g",
		"kill -0 $(cat pid)":                           "reads path /w/pid",
		"cd ~/d && touch f":                            "reads path /home/a/d; updates path /home/a/d/f",
		"git diff > d":                                 "reads commit HEAD; reads path /w/**; reads repository repository; reads staged *; writes path /w/d",
		"git diff --staged > d":                        "reads commit HEAD; reads repository repository; reads staged *; writes path /w/d",
		"git status":                                   "reads repository repository",
		"docker build -t app .":                        "reads path /w/**; writes image app",
		"docker run --rm app":                          "reads image app",
		"docker run --name db -p 5432:5432 pg:1":       "reads image pg:1; writes container db; writes port 5432",
	} {
		e := of(command)
		if got := things(e); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", command, got, want)
		}
		if len(e.Opaque) > 0 && !strings.HasPrefix(command, "pip") && !strings.HasPrefix(command, "python") {
			t.Errorf("%s: opaque %v", command, e.Opaque)
		}
	}
}

// TestFlagsAreNoPaths has a flag that was recorded as a path.
func TestFlagsAreNoPaths(t *testing.T) {
	e := Of(Command{Text: "gcc -shared -Wl,-soname,l.so.1 -o l.so l.o", Shell: "bash", Cwd: "/w", Resources: []Resource{{Kind: Path, Name: "/w/-Wl,-soname,l.so.1", Write: true}}})
	if got := things(e); got != "reads path /w/l.o; writes path /w/l.so" {
		t.Error(got)
	}
}

// TestKinds checks which commands only look, only test, only navigate, and may do anything. A
// command that is wrongly one of the first three is left out of a plan that needs it.
func TestKinds(t *testing.T) {
	for kind, commands := range map[string][]string{
		"looks": {
			"ls -l", "cat f | grep x | wc -l", "git status", "git log --oneline", "docker ps", "kubectl get pods", "npm ls", "find . -name '*.o'", "ls *.txt | xargs cat", "echo hi >&2", "git archive HEAD | tar t",
			"curl http://localhost:8000/", "python -c 'print(1)'", "sed -n 1p f", "FOO=1 env",
			"make -n", "make --dry-run all", "npm pkg get version",
			"git bundle verify b", "git worktree list", "git -C x worktree list", "git -C x bundle verify b", "git -C x sparse-checkout list",
			"sqlite3 a.db 'begin; delete from t; rollback'", "git apply --check p", "git format-patch --stdout main | head", "go work edit -json", "gofmt -l .", "cmake -LN build -N",
			"bash -n s.sh", "perl -c a.pl", "ninja -n", "ninja -t query a", "git submodule status", "git submodule foreach git status", "python3 -m json.tool f", "diff3 a b c", "npm -v", "npm query .workspace", "java -version", "unzip -p a.zip f", "dpkg-deb --info a.deb", "pkg-config --libs z", "npm pack --dry-run .", "envsubst < t",
		},
		"checks": {
			"go test ./...", "go vet ./...", "cargo test", "npm test", "npm run lint", "mvn -q test", "gradle test", "make test", "make -C sub check",
			"make V=1 check", "gcc -Wall -c a.c -o /dev/null", "gcc -fsyntax-only a.c", "terraform plan", "pytest -q", "prove -l t",
		},
		"navigates": {"cd sub", "cd .. && cd b", "pushd x"},
		"opaque": {
			"make", "make CC=gcc -j2", "make O=../build", "make all test", "make test install", "go build ./...", "go generate ./...", "cargo build --release", "cargo run", "npm install", "npm ci",
			"npm run build", "pnpm i", "yarn build", "mvn package", "mvn clean verify install", "gradle build", "terraform apply", "terraform plan -out p.tf",
			"go test -coverprofile c.out ./...", "ls *.txt | xargs -n1 gzip", "find . -name a | xargs touch", "echo hi >&3", "eslint --fix .", "pytest --junitxml r.xml", "CGO_ENABLED=0 go build .", "./run.sh now", "bash script.sh", "xargs rm < list",
			"python script.py", "python -c 'open(f,\"w\")'", "python -c 'import os; os.rename(\"a\", \"b\")'", "awk -f prog.awk f", "awk '{ print > $1 }' f", "awk '{ system($0) }' f", "kubectl apply -f x.yaml", "echo 'unclosed", "no-such-program --now",
		},
		"neither": {"CGO_ENABLED=0 go build -o x .", "touch f", "git commit -m x", "git add .", "export A=1", "echo x > f", "find . -name '*.o' -delete", "sleep 100 &", "rm f", "sed -i s/a/b/ f", "ls > f", "jar --create --file a.jar b", "envsubst < t > f", "python -c 'open(\"f\",\"w\")'", "for f in a b; do gzip -c $f > $f.gz & done; wait", "go test ./... > f"},
	} {
		for _, command := range commands {
			e := of(command)
			got := "neither"
			switch {
			case len(e.Opaque) > 0:
				got = "opaque"
			case e.Looks:
				got = "looks"
			case e.Checks:
				got = "checks"
			case e.Navigates:
				got = "navigates"
			}
			if got != kind {
				t.Errorf("%s: %s, want %s", command, got, kind)
			}
		}
	}
}

func TestShellState(t *testing.T) {
	for command, want := range map[string]string{
		"export A=1 B=2": "A B", "C=x": "C", "D=1 make": "", "alias ll='ls -l'": "alias ll", "f() { echo; }": "f()", "printf -v v x": "v", "let i++ j=2": "i j", "((k += 1))": "k", "mapfile -t lines < f": "lines", "read -r a b": "a b", "source venv/bin/activate": "*",
		"unset A": "-A", "unset 'a[0]'": "a", "read -r -a parts": "parts", "export $(cat .env)": "*", "export -p": "", "eval \"$(ssh-env)\"": "*", "eval 'export A=1'": "A", "shift": "option",
		"exec 3> log": "option", "exec > log": "option", "exec 3>&-": "option", "exec 3<> /dev/tcp/127.0.0.1/80; echo x >&3; head -1 <&3; exec 3>&-": "", "exec {in}< log; exec {in}<&-": "", "exec 3> log 4> log; exec 3>&-": "option",
		"(A=1; set -e; echo $A)": "", "(. ./env; B=2) && C=3": "C",
	} {
		e := of(command)
		var got []string
		got = append(got, e.Sets...)
		for _, name := range e.Unsets {
			got = append(got, "-"+name)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", command, got, want)
		}
	}
	if e := of("export A=1"); e.Values["A"] != "1" {
		t.Errorf("values %v", e.Values)
	}
}

func TestTerminalsAndJobs(t *testing.T) {
	for command, want := range map[string]string{"gcc -o hx a.c && ./hx a": "", "../top": "", "vim f": "vim", "less f": "less", "git log": "", "python": "python", "python x.py": "", "ssh host": "ssh", "ssh -G -F config host": "", "top": "top", "top -b -n1": "", "top() { sort \"$1\"; }; top f": "", "mysql < dump.sql": "", "git rebase -i HEAD~2": "git", "GIT_SEQUENCE_EDITOR=true git rebase -i HEAD~2": "", "git -c sequence.editor=true rebase -i main": "", "git -c core.editor=true commit": "", "git -c user.name=a commit": "git", "git stash -p": "git", "git add -p f < /dev/null | tail -3": "", "git stash push -p f": "git", "git stash show -p": "", "git stash show -p stash@{1} > f": ""} {
		if got := of(command).Interactive; got != want {
			t.Errorf("%s: needs a terminal for %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"GIT_EDITOR=vim git commit": "git", "GIT_EDITOR='vim -es -c wq' git commit": "", "export GIT_EDITOR=:\ngit commit": "", "export GIT_EDITOR='code --wait'; git commit --amend": "git",
		"git -c core.editor='sed -i 1d' commit": "", "git -c core.editor=nano commit": "git", "GIT_SEQUENCE_EDITOR=vi git rebase -i main": "git",
		"GIT_EDITOR=true git rebase -i main": "git", "git -c core.editor=true rebase -i main": "git", "EDITOR=true git commit": "git", // in Quick, below
		"env GIT_SEQUENCE_EDITOR=: git rebase -i main": "", "GIT_SEQUENCE_EDITOR=\"$seq\" git rebase -i main": "",
	} {
		if got := of(command).Interactive; got != want {
			t.Errorf("%s: needs a terminal for %q, want %q", command, got, want)
		}
	}
	quick := Command{Cwd: "/w", Shell: "bash", Quick: true, Env: map[string]string{"GIT_SEQUENCE_EDITOR": "true"}}
	for command, want := range map[string]string{"GIT_EDITOR=true git rebase -i main": "", "EDITOR=true git commit": "", "git rebase -i --autosquash main": "", "git commit": "git", "export GIT_SEQUENCE_EDITOR=vim; git rebase -i main": "git"} {
		if quick.Text = command; Of(quick).Interactive != want {
			t.Errorf("%s, quick: needs a terminal for %q, want %q", command, Of(quick).Interactive, want)
		}
	}
	for command, want := range map[string]bool{"sleep 9 &": true, "sleep 9": false, "a && b &": true, "a & wait $!": false, "a & b & wait $!": true} {
		if got := of(command).Background; got != want {
			t.Errorf("%s: background %v", command, got)
		}
	}
}

// TestUnparsed checks that nothing is excluded of a command that can't be parsed, and that what was
// recorded of it counts.
// TestWordsThatAreNoPaths has words of curl that were recorded as paths.
func TestWordsThatAreNoPaths(t *testing.T) {
	e := Of(Command{
		Text: "curl -s --retry 3 --retry-delay 1 --data-urlencode 'title=A b' --data-binary @in http://127.0.0.1:8080/x", Shell: "bash", Cwd: "/w",
		Resources: []Resource{{Kind: Path, Name: "/w/1", Read: true}, {Kind: Path, Name: "/w/title=A b", Read: true}, {Kind: Path, Name: "/w/in", Read: true}},
	})
	if got, want := things(e), "reads path /w/in; reads port 8080; updates port 8080"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWordsInAnotherDirectory has resources that were recorded as if a line had stayed where it began.
func TestWordsInAnotherDirectory(t *testing.T) {
	for text, want := range map[string]bool{"(cd data && rm f)": false, "(cd data && frob f)": false, "frob f; (cd data && frob f)": true, "(cd data && frob f) && mv g f": true, "(cd data && frob f) > f": true} {
		e := Of(Command{Text: text, Shell: "bash", Cwd: "/w", Resources: []Resource{{Kind: Path, Name: "/w/f", Write: true}}})
		if got := slices.ContainsFunc(e.Things, func(t Thing) bool { return t.Name == "/w/f" }); got != want {
			t.Errorf("%s: %v", text, e.Things)
		}
	}
}

func TestUnparsed(t *testing.T) {
	e := Of(Command{Text: "echo 'unclosed", Shell: "bash", Cwd: "/w", Resources: []Resource{{Kind: Path, Name: "/w/in", Read: true}}})
	if e.Err == nil || !slices.Equal(e.Opaque, []string{"/w"}) || things(e) != "reads path /w/in" {
		t.Errorf("%v %v %s", e.Err, e.Opaque, things(e))
	}
}

// TestShows checks which programs of unknown writes were asked to display something.
func TestShows(t *testing.T) {
	for text, want := range map[string]bool{
		"./kv get x": true, "tool --list": true, "./run x | head": true, "bar -v": true, "rbenv versions": true, "./check": true, "bash bb.sh list": true, "make | tail": true,
		"./load": false, "go run ./x": false, "rbenv global 3": false, "python3 -m x list > f": false, "./x list | tee f": false, "ls | xargs ./x list": false,
		"npm install list": false, "./load -v f": false, "./x list; ./load": false, "x=1 && ./x list": false, "./x list &": false,
	} {
		if e := of(text); e.Shows != want {
			t.Errorf("%s: %v, want %v", text, e.Shows, want)
		}
	}
}

// TestProducts checks which commands build the same.
func TestProducts(t *testing.T) {
	for _, same := range [][]string{
		{"make", "make -s -j4", "make -j 2 | tail -3", "make && ls"},
		{"CC=clang make asan 2>&1 | tail -4", "CC=clang make asan | grep error"},
		{"cmake --build b", "cmake --build b --parallel 2"},
	} {
		for _, text := range same {
			if e, first := of(text), of(same[0]); e.Product == "" || e.Product != first.Product || !e.Remakes {
				t.Errorf("%s: %q, and %s: %q", text, e.Product, same[0], first.Product)
			}
		}
	}
	for _, text := range []string{"make && python3 gen.py", "./gen && make", "./gen"} {
		if e := of(text); e.Product != "" || e.Remakes {
			t.Errorf("%s: %q", text, e.Product)
		}
	}
	for _, text := range []string{"npm pkg set a=b", "cmake -B b", "go mod tidy", "pip install x"} {
		if of(text).Remakes {
			t.Errorf("%s makes its files of others alone", text)
		}
	}
}

// TestDocumentsThatNameWhatTheyRead checks which programs read nothing but the files in their text.
func TestDocumentsThatNameWhatTheyRead(t *testing.T) {
	for text, want := range map[string]string{
		"import re\np = 'a/b.c'\ns = open(p).read()\nopen(p, 'w').write(s)":                                                 "/w/a/b.c",
		"from pathlib import Path\nPath(\"x.py\").write_text('a b')":                                                        "/w/x.py",
		"s = open('a.py').read()\ns = s.replace('x', '''import os\nos.walk(\"b\") # it's\n''')\nopen('a.py', 'w').write(s)": "/w/a.py",
		"# don't\ns = open('a.py').read().replace('exec(x)', 'glob(\\'*\\')')\nopen('a.py', 'w').write(s)":                  "/w/a.py",
		"s = '''print('a.py')'''\nexec(s)":                                                                                  "",
		"s = 'a\nopen(s).read()":                                                                                            "",
		"import glob\nfor f in glob.glob('*'): print(open(f).read())":                                                       "",
		"import sys, mine\nmine.run('x')":                                                                                   "",
		"import subprocess\nsubprocess.run(['make'])":                                                                       "",
		"name = 'x'\nopen(f'{name}.c').read()":                                                                              "",
		"import os\nfor d, _, files in os.walk('src'): print(d, files)":                                                     "",
		"open(input()).read()":                                                                                              "",
		"import json\nimport tool\nprint(json.load(open('a.json')), tool.X)":                                                "",
	} {
		e := of("python3 - <<'X'\n" + text + "\nX")
		if e.NamesReads != (want != "") || want != "" && (!strings.Contains(things(e), "reads path "+want) || len(e.Reads) > 0) {
			t.Errorf("%s: %v, %s, reads %v", text, e.NamesReads, things(e), e.Reads)
		}
	}
}
