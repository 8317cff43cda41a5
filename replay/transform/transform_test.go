package transform_test

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/replay/transform"
)

func apply(t *testing.T, in string, maps ...string) transform.Output {
	t.Helper()
	m, err := transform.Parse(maps, "")
	if err != nil {
		t.Fatal(err)
	}
	const cwd = "/home/ann/app/src"
	l, err := shell.Read(in, "bash", cwd)
	if err != nil {
		l = nil
	}
	return m.Command(transform.Input{Text: in, Shell: "bash", Cwd: cwd, User: "ann", Home: "/home/ann", Line: l})
}

func TestCommand(t *testing.T) {
	app := "/home/ann/app=/home/bob/app"
	for _, c := range []struct {
		name, in, want string
		maps           []string
		asks           string // a part of the question, "" if there is none
	}{
		{"a word", "ls /home/ann/app", "ls /home/bob/app", []string{app}, ""},
		{"below it", "ls /home/ann/app/x y", "ls /home/bob/app/x y", []string{app}, ""},
		{"not a longer name", "ls /home/ann/application /backup/home/ann/app", "ls /home/ann/application /backup/home/ann/app", []string{app}, ""},
		{"in quotes", `cp "/home/ann/app/a b" '/home/ann/app/c'`, `cp "/home/bob/app/a b" '/home/bob/app/c'`, []string{app}, ""},
		{"across quotes", `ls /home/"ann"/app/x`, `ls /home/bob/app""/x`, []string{app}, ""},
		{"with a backslash", `ls /home/ann/app/a\ b`, `ls /home/bob/app/a\ b`, []string{app}, ""},
		{"the value of a flag", "./configure --prefix=/home/ann/app/out -I/home/ann/app/inc", "./configure --prefix=/home/bob/app/out -I/home/bob/app/inc", []string{app}, ""},
		{"a list of paths", "PATH=/bin:/home/ann/app/bin:/usr/bin make", "PATH=/bin:/home/bob/app/bin:/usr/bin make", []string{app}, ""},
		{"a document", "cat > x <<EOF\nroot=/home/ann/app\nEOF", "cat > x <<EOF\nroot=/home/bob/app\nEOF", []string{app}, ""},
		{"a substitution", "echo $(ls /home/ann/app)", "echo $(ls /home/bob/app)", []string{app}, ""},
		{"a redirection", "make > /home/ann/app/log", "make > /home/bob/app/log", []string{app}, ""},
		{"inside sh -c", "sh -c 'cd /home/ann/app && make'", "sh -c 'cd /home/bob/app && make'", []string{app}, ""},
		{"a target that needs quotes", "ls /home/ann/app/x", `ls /home/bob/my\ app/x`, []string{"/home/ann/app=/home/bob/my app"}, ""},
		{"a quote in the target", "ls '/home/ann/app/x'", `ls '/home/bob/it'\''s/x'`, []string{"/home/ann/app=/home/bob/it's"}, ""},
		{"the longest", "cp /home/ann/app/a /home/ann/b", "cp /srv/app/a /home/bob/b", []string{"/home/ann=/home/bob", "/home/ann/app=/srv/app"}, ""},
		{"nothing is mapped twice", "cp /a/x /b/x", "cp /b/x /c/x", []string{"/a=/b", "/b=/c"}, ""},
		{"a home that is mapped with it stays", "ls ~/app", "ls ~/app", []string{"/home/ann=/home/bob"}, ""},
		{"a home that is not mapped is written out", "ls ~/app/x", "ls /srv/app/x", []string{"/home/ann/app=/srv/app"}, ""},
		{"what is only known later", "ls /home/ann/$X", "ls /home/ann/$X", []string{app}, "only known when it runs"},
		{"a pattern", "ls /home/an*/app", "ls /home/an*/app", []string{app}, "only known when it runs"},
		{"above the mapped directory", "ls ../../lib", "ls ../../lib", []string{app}, "map that directory too"},
		{"within it", "ls ../lib", "ls ../lib", []string{app}, ""},
		{"another machine", "ssh host ls /home/ann/app", "ssh host ls /home/ann/app", []string{app}, "another machine"},
		{"no syntax", "ls /home/ann/app )", "ls /home/ann/app )", []string{app}, "syntax is not known"},
		{"a port", "curl http://localhost:8080/x", "curl http://localhost:9090/x", []string{"port:8080=9090"}, ""},
		{"a port of a container", "docker run -p 8080:8080 web", "docker run -p 9090:8080 web", []string{"port:8080=9090"}, ""},
		{"a number that is no port", "head -c 8080 x", "head -c 8080 x", []string{"port:8080=9090"}, "may be the port"},
		{"a host", "rsync x db1:/srv && curl https://db1/x", "rsync x db2:/srv && curl https://db2/x", []string{"host:db1=db2"}, ""},
		{"a branch", "git push origin main && git checkout origin/main", "git push origin trunk && git checkout origin/trunk", []string{"branch:main=trunk"}, ""},
		{"a branch in a message", "git commit -m 'main'", "git commit -m 'main'", []string{"branch:main=trunk"}, "may be the branch"},
		{"an image and a container", "docker run --name web app:1", "docker run --name www shop:1", []string{"image:app=shop", "container:web=www"}, ""},
		{"an owner", "chown ann:staff x", "chown bob:staff x", []string{"user:ann=bob"}, ""},
		{"a word that may be a user", "echo ann", "echo ann", []string{"user:ann=bob"}, "may be the user"},
		{"redacted", "mysql -p[redacted:password] shop", `mysql -p"${RECOUNT_MYSQL_PASSWORD}" shop`, nil, "RECOUNT_MYSQL_PASSWORD"},
		{"redacted in quotes", `export API_KEY="[redacted:key]"`, `export API_KEY="${RECOUNT_API_KEY}"`, nil, "RECOUNT_API_KEY"},
		{"redacted in single quotes", `curl -H 'Authorization: Bearer [redacted:token]' http://x`, `curl -H 'Authorization: Bearer '"${RECOUNT_CURL_TOKEN}"'' http://x`, nil, "RECOUNT_CURL_TOKEN"},
		{"redacted in $'…'", `printf $'a\t[redacted:token]\n'`, `printf $'a\t'"${RECOUNT_PRINTF_TOKEN}"$'\n'`, nil, "RECOUNT_PRINTF_TOKEN"},
		{"redacted after escapes", `curl -d "{\"id\": 1, \"pin\": \"[redacted:password]\"}" http://x`, `curl -d "{\"id\": 1, \"pin\": \"${RECOUNT_PIN}\"}" http://x`, nil, "RECOUNT_PIN"},
		{"the user of a URL is no key", `curl -u ann:[redacted:password] https://ann:[redacted:url]@x/`, `curl -u ann:"${RECOUNT_CURL_PASSWORD}" https://ann:"${RECOUNT_CURL_URL}"@x/`, nil, "RECOUNT_CURL_URL"},
		{"a document with escapes", "cat <<EOF\n\\$x /home/ann/app/y\nEOF", "cat <<EOF\n\\$x /home/bob/app/y\nEOF", []string{app}, ""},
		{"a document as it is", "cat <<'EOF'\n\\$x \\\\ `/home/ann/app/y`\nEOF", "cat <<'EOF'\n\\$x \\\\ `/home/bob/app/y`\nEOF", []string{app}, ""},
		{"redacted in a document", "cat > x <<EOF\ntoken = [redacted:token]\nEOF", "cat > x <<EOF\ntoken = ${RECOUNT_TOKEN}\nEOF", nil, "RECOUNT_TOKEN"},
		{
			"redacted in a document as it is", "cat > x <<'EOF'\n{\"db_password\": \"[redacted:password]\", \"key\": \"[redacted:password]\", \"dir\": \"/home/ann/app\"}\n$HOME \\n `x`\nEOF",
			"cat > x <<EOF\n{\"db_password\": \"${RECOUNT_DB_PASSWORD}\", \"key\": \"${RECOUNT_KEY}\", \"dir\": \"/home/bob/app\"}\n\\$HOME \\\\n \\`x\\`\nEOF",
			[]string{app},
			"RECOUNT_KEY",
		},
		{"tabs before a document", "cat <<-'EOF'\n\t$1 [redacted:token]\n\tEOF", "cat <<-EOF\n\t\\$1 ${RECOUNT_TOKEN}\n\tEOF", nil, "RECOUNT_TOKEN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := apply(t, c.in, c.maps...)
			if out.Text != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.in, out.Text, c.want)
			}
			asks := ""
			for _, a := range out.Asks {
				asks += a.Text + "\n"
			}
			if c.asks == "" && asks != "" || !strings.Contains(asks, c.asks) {
				t.Errorf("asks %q, want %q", asks, c.asks)
			}
		})
	}
}

// TestBranches replaces a branch where git takes a revision or the name of a branch, and in no name of a file.
func TestBranches(t *testing.T) {
	for in, want := range map[string]string{
		"git add main.c main && git rm main; git mv main.c old": "", "git commit -qm m main": "", "git checkout -- main": "", "git checkout main -- main.c": "git checkout trunk -- main.c",
		"git checkout main main.c main": "git checkout trunk main.c main", "git show main:main": "git show trunk:main", "git show origin/main:main.c": "git show origin/trunk:main.c",
		"git show :main.c HEAD:main": "", "git log --format=%s main..dev": "git log --format=%s trunk..dev", "git log dev...main -- main": "git log dev...trunk -- main",
		"git log ^main~2 -n 3 main^ main@{1}": "git log ^trunk~2 -n 3 trunk^ trunk@{1}", "git diff main.. main.c": "git diff trunk.. main.c",
		"git branch topic/x/main main": "git branch topic/x/main trunk", "git push -u origin +main:main": "git push -u origin +trunk:trunk",
		"git push origin HEAD:refs/heads/main :main": "git push origin HEAD:refs/heads/trunk :trunk", "git checkout -qb main origin/main": "git checkout -qb trunk origin/trunk",
		"git checkout -b main v1": "git checkout -b trunk v1", "git switch -c dev main": "git switch -c dev trunk", "git rebase --onto main a b": "git rebase --onto trunk a b",
		"git merge --no-ff -m m main": "git merge --no-ff -m m trunk", "git restore -s main main": "git restore -s trunk main", "git restore --source=main main.c": "git restore --source=trunk main.c",
		"git worktree add main main": "git worktree add main trunk", "git -C main log main": "git -C main log trunk", "git config branch.main.merge refs/heads/main": "git config branch.trunk.merge refs/heads/trunk",
		"git init -q -b main": "git init -q -b trunk", "git config --global init.defaultBranch main": "git config --global init.defaultBranch trunk",
		"git -c init.defaultBranch=main init main": "git -c init.defaultBranch=trunk init main", "git branch -m main old": "git branch -m trunk old", "git reset --hard main": "git reset --hard trunk",
		"gh pr create --base main --title main.c": "gh pr create --base trunk --title main.c", "git branch -u origin/main": "git branch -u origin/trunk", "git archive -o main.tar main main.c": "git archive -o main.tar trunk main.c",
		"git cherry-pick -n main": "git cherry-pick -n trunk", "git log -S main.c --grep=main.c main": "git log -S main.c --grep=main.c trunk",
	} {
		if want == "" {
			want = in
		}
		if out := apply(t, in, "branch:main=trunk"); out.Text != want || len(out.Asks) > 0 {
			t.Errorf("%s: %s, asks %v; want %s", in, out.Text, out.Asks, want)
		}
	}
	for _, in := range []string{"git log fork/main", "git blame main", "git grep main dev", "git lg main", "git tag main", "git push main", "for b in main dev; do git log $b; done", "cat main", "git checkout main && cat main", "git commit -m main"} {
		if out := apply(t, in, "branch:main=trunk"); len(out.Asks) != 1 || !strings.Contains(out.Asks[0].Text, "may be the branch") {
			t.Errorf("%s: %s, asks %v", in, out.Text, out.Asks)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"/a":              "want FROM=TO",
		"a=b":             "want absolute paths",
		"/a=/a":           "to itself",
		"/a=/a/b":         "points into itself",
		"/=/x":            "cannot be mapped",
		"port:http=8080":  "want numbers",
		"colour:red=blue": "unknown kind",
		"user:ann=ann":    "to itself",
	} {
		if _, err := transform.Parse([]string{spec}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", spec, err, want)
		}
	}
	if _, err := transform.Parse([]string{"/a=/b", "/a/=/c"}, ""); err == nil || !strings.Contains(err.Error(), "mapped twice") {
		t.Errorf("got %v, want that it is mapped twice", err)
	}
}

func TestSetReplacesWholeValues(t *testing.T) {
	m, err := transform.Parse(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m.Set("1.2", "1.3")
	for in, want := range map[string]string{"app-1.2.tar.gz": "app-1.3.tar.gz", "v1.2": "v1.3", "11.2": "11.2", "1.2.3": "1.2.3", "1.25": "1.25"} {
		if got := m.Text(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// TestStatus puts the exit code of the command before where a line asks for it before any of its own has ended.
func TestStatus(t *testing.T) {
	m, err := transform.Parse(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`echo "code $?" > f`: `echo "code 3" > f`, `rc=$?`: `rc=3`, `[ $? = 0 ] && echo ${?}`: `[ 3 = 0 ] && echo ${?}`,
		`if [ $? -ne 0 ]; then echo $?; fi`: `if [ 3 -ne 0 ]; then echo $?; fi`, `case $? in 0) ;; esac`: `case 3 in 0) ;; esac`,
		`false; echo $?`: `false; echo $?`, `echo '$?' \$?`: `echo '$?' \$?`, `f() { echo $?; }`: `f() { echo $?; }`,
	} {
		l, err := shell.Read(in, "bash", "/w")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Command(transform.Input{Text: in, Shell: "bash", Cwd: "/w", Line: l, Status: "3"}).Text; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
