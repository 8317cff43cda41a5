package effects

import (
	"slices"
	"strings"
	"testing"
)

// TestProgramsOfALoop has programs whose path a loop tells.
func TestProgramsOfALoop(t *testing.T) {
	const want = "reads path /w/out/a/run; reads path /w/out/b/run; writes path /w/report"
	if got := things(of("for m in a b; do out/$m/run x; done > report")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestScriptsThatGoHome has scripts that begin with cd.
func TestScriptsThatGoHome(t *testing.T) {
	const want = "reads path /home/a/.list; writes path /home/a/saved/**"
	if got := things(of("cd || exit 1\nwhile read -r d; do tar -cf saved/$d.tar $d; done < .list")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestWritesOfPrograms has files that are named inside the text which a program is given.
func TestWritesOfPrograms(t *testing.T) {
	for command, want := range map[string]string{
		// awk
		`awk '{ print $1 > "out.txt" }' in`:                                     "reads path /w/in; writes path /w/out.txt",
		`awk '{ print $1, $2 >> "log" }' in`:                                    "reads path /w/in; updates path /w/log",
		`awk '{ printf "%s\n", $1 > ($2 > 3 ? "big" : "small") }' in`:           "reads path /w/in; writes path /w/big; writes path /w/small",
		`awk -v out=res.csv 'BEGIN { print "a" > out; close(out) }'`:            "writes path /w/res.csv",
		`awk '{ f = "same"; print > f }' in`:                                    "reads path /w/in; writes path /w/same",
		`awk '{ print > "by/" $1 ".csv" }' in`:                                  "reads path /w/in; writes path /w/by/*.csv",
		`awk '$2 > 20 { print "a > b" }' in`:                                    "reads path /w/in",
		`awk '{ print ($1 > 2) }' in`:                                           "reads path /w/in",
		`awk '/a > "x"/ { n = 4 / 2; print n / 2 } # print > "y"' in`:           "reads path /w/in",
		`awk '{ print | "sort -u > sorted" }' in`:                               "reads path /w/in; writes path /w/sorted",
		`awk '{ while ((getline line < "other") > 0) n++ } END { print n }' in`: "reads path /w/in; reads path /w/other",
		`awk '{ print > "/dev/stderr" }' in`:                                    "reads path /w/in",
		`awk 'BEGIN { system("rm -f old") }'`:                                   "removes path /w/old",
		`awk 'BEGIN { "cat f" | getline x; print x }'`:                          "reads path /w/f",
		`gawk -i inplace '{ print }' f`:                                         "updates path /w/f",
		// sed and perl
		`sed -n '/x/w found' in`:                                           "reads path /w/in; writes path /w/found",
		`sed 's/a/b/gw changed' in`:                                        "reads path /w/in; writes path /w/changed",
		`sed -e 's;w /x;y;' -e '$r tail' in`:                               "reads path /w/in; reads path /w/tail",
		`sed 's/[/]w/x/; s|b|w|' in`:                                       "reads path /w/in",
		`sed '/^#/d;1,3{p;w head` + "\n" + `}' in`:                         "reads path /w/in; writes path /w/head",
		`sed 'a\` + "\n" + `w text' in`:                                    "reads path /w/in",
		`sed -i.bak s/a/b/ f`:                                              "updates path /w/f; writes path /w/f.bak",
		`sed -n 'w /dev/stdout' in`:                                        "reads path /w/in",
		`perl -i -pe 's/a/b/' f`:                                           "updates path /w/f",
		`perl -pi.orig -e 's/a/b/' f`:                                      "updates path /w/f; writes path /w/f.orig",
		`perl -ne 'print if /x/' f`:                                        "reads path /w/f",
		`perl -e 'open(my $f, ">", "made"); print $f "x"'`:                 "writes path /w/made",
		`python3 -c 'open("f", "w").write("x")'`:                           "writes path /w/f",
		`python3 -c 'import json; json.dump({}, open("f","a"))'`:           "updates path /w/f",
		`python3 -c 'from pathlib import Path; Path("f").write_text("x")'`: "writes path /w/f",
		`node -e 'require("fs").writeFileSync("f", "x")'`:                  "writes path /w/f",
		// others
		"csplit -f part- in /x/":                                 "reads path /w/in; writes path /w/part-*",
		"csplit in /x/ '{*}'":                                    "reads path /w/in; writes path /w/xx*",
		"split in out/":                                          "reads path /w/in; writes path /w/out/*",
		"dd if=a of=b conv=notrunc":                              "reads path /w/a; updates path /w/b",
		"sort in | sponge in":                                    "reads path /w/in; writes path /w/in",
		"echo x | tee -a log":                                    "updates path /w/log",
		"sqlite3 db <<E\nselect 1;\nE":                           "reads path /w/db",
		"echo 'select 1;' > q; sqlite3 db < q":                   "reads path /w/db; reads path /w/q; writes path /w/q",
		"echo 'drop table t;' > q; sqlite3 db < q":               "reads path /w/q; updates path /w/db; writes path /w/q",
		"sqlite3 db < q":                                         "reads path /w/q; updates path /w/db",
		"sqlite3 db <<E\ninsert into t values (1);\nE":           "updates path /w/db",
		"for f in a b; do gzip -c $f > $f.gz; done":              "reads path /w/a; reads path /w/b; writes path /w/a.gz; writes path /w/b.gz",
		"for f in *.txt; do cat \"$f\" > \"${f%.txt}.up\"; done": "reads path /w/*.txt; writes path /w/*.up",
		`perl -e 'open my $o, ">", "made" or die; print $o 1'`:   "writes path /w/made",
		"chmod u+x f":                                            "updates path /w/f; writes mode /w/f",
		"make O=../build V=1 clean":                              "removes products /build",
		"make -C sub clean":                                      "removes products /w/sub",
		"yq -i .a=1 f.yaml":                                      "updates path /w/f.yaml",
		"xmllint --format in.xml -o out.xml":                     "reads path /w/in.xml; writes path /w/out.xml",
		"openssl req -x509 -newkey rsa:2048 -keyout k":           "reads path /w/k; reads path /w/req; reads path /w/rsa:2048; writes path /w/k",
		"uniq in out":                                            "reads path /w/in; writes path /w/out",
		"xxd -r hex out":                                         "reads path /w/hex; writes path /w/out",
		"rsync -a src/ dst/":                                     "reads path /w/src/**; updates path /w/dst/**",
		"strip app":                                              "updates path /w/app",
		"ln -s ../lib/a bin/a":                                   "reads path /w/lib/a; writes path /w/bin/a; writes path /w/bin/a/a",
		"ln -s ../a bin/":                                        "reads path /w/a; writes path /w/bin/a",
		"ln a bin/b":                                             "reads path /w/a; writes path /w/bin/b; writes path /w/bin/b/a",
		"mkfifo pipe":                                            "writes path /w/pipe",
		"objcopy --rename-section .data=.rodata a":               "updates path /w/a",
		"patch a.c fix.patch":                                    "reads path /w/fix.patch; updates path /w/a.c",
		"objcopy -O binary a b":                                  "reads path /w/a; writes path /w/b",
		"find . | cpio -pdm ../x":                                "reads path /w/**; updates path /x/**",
		"find src | xargs -I{} cp {} out/":                       "reads path /w/**; reads path /w/src/**; updates path /w/out/**",
		"git archive -o a.tar HEAD":                              "reads commit HEAD; reads repository repository; writes path /w/a.tar",
		"git bundle create b main":                               "reads branch main; reads commit HEAD; reads repository repository; reads tag main; writes path /w/b",
		"git format-patch -o p main":                             "reads branch main; reads commit HEAD; reads repository repository; reads tag main; updates path /w/p/**",
		"git rm --cached f":                                      "reads path /w/f/**; reads repository repository; updates staged /w/f",
		"bash <<'E'\necho x > f\nE":                              "writes path /w/f",
	} {
		e := of(command)
		if got := things(e); got != want || len(e.Opaque) > 0 {
			t.Errorf("%s\ngot  %s %v\nwant %s", command, got, e.Opaque, want)
		}
		if writes := strings.Contains(want, "writes") || strings.Contains(want, "updates") || strings.Contains(want, "removes"); e.Looks == writes {
			t.Errorf("%s: only looks: %v", command, e.Looks)
		}
	}
}

// TestFunctionsAndScripts has calls whose text another command has written down.
func TestFunctionsAndScripts(t *testing.T) {
	texts := map[string]string{
		"/w/lib.sh":      "log() { echo \"$*\" >> \"${LOG:?}\"; }\n",
		"/w/bin/here.sh": "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit\ntouch a\nhere=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\ntouch $here/b\n",
		"/w/run.sh":      "#!/bin/sh\n. ./lib.sh\nlog begun\nif test -f old; then rm old; fi\nsort \"$1\" > \"${1%.txt}.sorted\"\n",
		"/w/show":        "#!/usr/bin/env bash\ncat \"$@\"\n",
		"/w/tool.py":     "#!/usr/bin/env python3\nopen('x', 'w')\n",
		"/w/shift.sh":    "shift\ntouch \"$1\"\n",
		"/w/again.sh":    "bash again.sh\n",
		"/w/trap.sh":     "cat 8000.in &\ntrap 'kill $!' EXIT\ncurl -s localhost:$PORT > out\n",
		"/w/lock.sh":     "mkdir .lock || exit 1\ntrap 'rmdir .lock' EXIT\necho 1 >> n\n",
		"/w/count.awk":   "{ n++ } END { print n > \"count\" }\n",
		"/w/edit.sed":    "s/a/b/\nw lines\n",
	}
	session := Command{
		Shell: "bash", Cwd: "/w", Home: "/home/a", Vars: map[string]string{"LOG": "/w/run.log"},
		Functions: map[string]string{
			"log":   `{ printf '%s\n' "$*" >> "${LOG:?}"; }`,
			"greet": `{ local -a names=("$@"); for n in "${names[@]}"; do cat <<END` + "\nDear $n\nEND\n done; }",
			"pack":  `{ dest=$2; tar czf "$dest" "$1"; }`,
			"clean": `{ rm -rf build; }`,
			"up":    `{ cd ..; }`,
			"ctl":   `{ set -euo pipefail; case ${1:-none} in start|run) echo 1 > pid ;; stop) rm pid ;; *.gz) touch zipped ;; *) echo usage > usage ;; esac; }`,
			"enter": `{ (cd "$1" && touch made); }`,
			"loop":  `{ loop; }`,
			"mkcd":  `{ mkdir -p -- "$1" && cd -- "$1"; }`,
			"maybe": `{ if test -d "$1"; then cd "$1"; fi; }`,
			"vc":    `{ local name=$1; shift; git --git-dir=/w/$name.git --work-tree="$HOME" "$@"; touch $1; }`,
			"any":   `{ while read -r x; do touch "$1"; shift; done; git "$@"; }`,
		},
		Content: func(name string) (string, bool) { s, ok := texts[name]; return s, ok },
	}
	for _, c := range []struct{ command, things, opaque, sets string }{
		{"ctl start", "writes path /w/pid", "", "option"},
		{"ctl stop", "removes path /w/pid", "", "option"},
		{"ctl x.gz", "updates path /w/zipped", "", "option"},
		{"ctl", "writes path /w/usage", "", "option"},
		{"v=stop; while ls; do case $v in stop) touch a; v=x;; x) touch b;; esac; done", "updates path /w/a; updates path /w/b", "", "v"},
		{"bin/here.sh", "reads path /w/bin; reads path /w/bin/here.sh; updates path /w/bin/a; updates path /w/bin/b", "", ""},
		{"enter sub", "reads path /w/sub; updates path /w/sub/made", "", ""},
		{"log started", "updates path /w/run.log", "", ""},
		{"LOG=other log x", "updates path /w/other", "", ""},
		{"greet ann > letters", "writes path /w/letters", "", ""},
		{"pack src a.tgz", "reads path /w/src/**; writes path /w/a.tgz", "", "dest"},
		{"clean", "removes path /w/build/**", "", ""},
		{"up", "reads path /", "", ""},
		{"unknown x", "", "/w", ""},
		{"mkcd new && chmod 700 . && ls > names", "reads entries /w/new; reads path /w/new; updates path /w/new; writes directory /w/new; writes mode /w/new; writes path /w/new/names", "", ""},
		{"mkcd new; cd ..; touch a", "reads path /; reads path /w/new; updates path /a; writes directory /w/new", "/w", ""},
		{"maybe new && touch a", "reads path /w/new; updates path /w/a", "/w", ""},
		{"(mkcd new); touch a", "reads path /w/new; updates path /w/a; writes directory /w/new", "/w", ""},
		{"loop", "", "/w", ""},
		{"vc a add f", "reads path /w/f/**; reads repository repository; updates path /w/add; writes staged /w/f", "", ""},
		{"any f", "reads repository repository; reads settings alias.; reads settings global alias.", "/w", "x"},
		{". ./lib.sh", "reads path /w/lib.sh", "", "log()"},
		{"source lib.sh; log x", "reads path /w/lib.sh; updates path /w/run.log", "", "log()"},
		{". ./other.sh", "reads path /w/other.sh", "", "*"},
		{"f() { touch made; }", "", "", "f()"},
		{"f() { touch made; }; f", "updates path /w/made", "", "f()"},
		{"bash run.sh a.txt", "reads path /w/a.txt; reads path /w/lib.sh; reads path /w/old; reads path /w/run.sh; updates path /w/old; updates path /w/run.log; writes path /w/a.sorted", "", ""},
		{"./show f g", "reads path /w/f; reads path /w/g; reads path /w/show", "", ""},
		{"./tool.py now", "reads path /w/tool.py", "/w", ""},
		{"sh shift.sh a b", "reads path /w/shift.sh; updates path /w/b", "", ""},
		{"bash trap.sh", "reads path /w/8000.in; reads path /w/EXIT; reads path /w/trap.sh; reads port *; writes path /w/out", "", ""},
		{"bash lock.sh", "reads path /w/EXIT; reads path /w/lock.sh; removes path /w/.lock; updates path /w/n; writes directory /w/.lock", "", ""},
		{"bash again.sh", "reads path /w/again.sh", "/w", ""},
		{"awk -f count.awk in", "reads path /w/count.awk; reads path /w/in; writes path /w/count", "", ""},
		{"sed -n -f edit.sed in", "reads path /w/edit.sed; reads path /w/in; writes path /w/lines", "", ""},
	} {
		in := session
		in.Text = c.command
		e := Of(in)
		if got := things(e); got != c.things || strings.Join(e.Opaque, " ") != c.opaque {
			t.Errorf("%s\ngot  %s %v\nwant %s [%s]", c.command, got, e.Opaque, c.things, c.opaque)
		}
		if slices.Sort(e.Sets); strings.Join(e.Sets, " ") != c.sets {
			t.Errorf("%s: sets %v, want %s", c.command, e.Sets, c.sets)
		}
	}
	in := session
	in.Text = "vc a add f"
	if e := Of(in); !slices.ContainsFunc(e.Things, func(t Thing) bool { return t.Kind == Staged && t.Repo == "/w/a.git" }) {
		t.Errorf("staged in another repository: %v", e.Things)
	}
	in.Text = "pack src a.tgz"
	if e := Of(in); !slices.Equal(e.Passing, []string{"dest"}) {
		t.Errorf("set on its way: %v", e.Passing)
	}
	in.Text = "./show f g"
	if e := Of(in); !e.Looks {
		t.Error("a script that shows files does not only look")
	}
}

// TestTexts has what a line writes down, where all of it is in the line.
func TestTexts(t *testing.T) {
	for command, want := range map[string]string{
		"cat > f <<'E'\na $x\nE":         "a $x\n",
		"cat <<E > f\na\\$x\nE":          "a$x\n",
		"cat > f <<-E\n\ta\n\t\tb\nE":    "a\nb\n",
		"echo a 'b  c' > f":              "a b  c\n",
		"echo -n a > f":                  "a",
		`printf 'a\tb\n%s-%d\n' x 1 > f`: "a\tb\nx-1\n",
		`printf '%s\n' a b > f`:          "a\nb\n",
		"cat > f <<< 'a b'":              "a b\n",
		"cat > f <<E\n$x\nE":             "",
		"echo $x > f":                    "",
		"echo a >> f":                    "",
		"echo a | sort > f":              "",
		"test -f x || echo a > f":        "",
		"f() { echo a > f; }":            "",
	} {
		if got := of(command).Texts["/w/f"]; got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// TestMentions has the words of a program that may name files.
func TestMentions(t *testing.T) {
	if got := of("./tool --retry-delay 1 in.txt pass:key").Mentions; !slices.Equal(got, []string{"/w/--retry-delay", "/w/in.txt", "/w/pass:key", "/w/key"}) {
		t.Errorf("%q", got)
	}
}
