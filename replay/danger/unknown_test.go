package danger

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/replay/shell"
)

func TestUnknownPrograms(t *testing.T) {
	for _, c := range []struct {
		why, command string
		want         []string
	}{
		{"no table has it", "sometool sync prod", []string{"sometool"}},
		{"each program once, in their order", "othertool a; sometool b | othertool c", []string{"othertool", "sometool"}},
		{"by the path of a program outside the tree", "/opt/x/bin/sometool go", []string{"sometool"}},
		{"through what runs others", "sudo env A=1 xargs sometool", []string{"sometool"}},
		{"through npx, which fetches it", "npx sometool build", []string{"sometool"}},
		{"what a package manager put into the tree", "node_modules/.bin/sometool build", []string{"sometool"}},
		{"in a command in words", `bash -c "sometool build"`, []string{"sometool"}},
		{"in what an alias says that is used", "alias x='sometool build'; x", []string{"sometool"}},
		{"a name that only the run knows", "$TOOL build", []string{"$TOOL"}},
		{"in a function that may be called", "f() { sometool x; }; f", []string{"sometool"}},
		{"a subcommand of a program that talks to a network", "heroku ps:copy file", []string{"heroku ps:copy"}},
		{"a subcommand that only the run knows", `kubectl "$C" deployment web`, []string{`kubectl "$C"`}},
		{"a word behind a flag of which no table says that it takes one", "adb -s phone logcat", []string{"adb"}},
		{"a module of Python of somebody else", "python3 -m sometool build", []string{"sometool"}},

		{"coreutils, compilers and shells", "cp a b && gcc -o x x.c; sh x.sh | sort -u", nil},
		{"builders and what they run of the project", "make all; npm run build; cargo build; go test ./...; ./gradlew assemble", nil},
		{"languages, and modules of Python itself", "python3 tool.py; node x.js; python3 -m http.server; python3.12 -m venv v", nil},
		{"a script below the tree", "./deploy.sh prod; sub/bin/tool x; /home/ann/work/x", nil},
		{"a function and a script of the narrative", "f() { :; }; f; shaped x", nil},
		{"what the narrative builds", "built --now", nil},
		{"known to talk to a network", "curl https://example.com; git fetch; ssh host; scp a host:", nil},
		{"found dangerous, and asked about as that", "heroku apps:destroy shop; sometool delete all", nil},
		{"a verb that only asks", "sometool list; heroku ps:list", nil},
		{"help", "sometool --help; sometool help x; sometool --version", nil},
		{"what it would do", "sometool deploy --dry-run", nil},
		{"the table finds whatever it does not know of it", "aws s3 presign s3://a/b; az acr repository show-tags -n x", nil},
		{"its settings for its user", "gcloud config configurations activate x", nil},
		{"in a container or on another machine", "docker run alpine sometool; ssh host sometool", nil},
		{"only an address of this machine", "sometool http://localhost:8080/x", nil},
		{"a disk's program", "smartctl -a /dev/sda; mkfs.ext4 disk.img", nil},
		{"only words", "echo sometool; A=1", nil},
	} {
		l, err := shell.Read(c.command, "bash", work.Cwd)
		if err != nil {
			t.Fatal(err)
		}
		at := work
		at.Own, at.Built = []string{"shaped"}, []string{"built"}
		if got := Unknown(l, at); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s: %q, want %q", c.why, c.command, got, c.want)
		}
	}
}

// TestUnknownShares counts of how many of the labelled commands it is said that nothing is known about them.
// The bounds are what was counted; the sets name as many different programs as their authors knew.
func TestUnknownShares(t *testing.T) {
	racing.Alone(t)
	for name, most := range map[string]int{
		"fifth-a-near.txt": 32, "fifth-b-near.txt": 47, "fourth-near.txt": 73, "manuals-ordinary.txt": 62,
		"sixth-a-near.txt": 14, "sixth-b-near.txt": 11, "sixth-a-drawn.txt": 59, "sixth-b-drawn.txt": 54,
		"fifth-a-drawn.txt": 134, "fifth-b-drawn.txt": 90, "fourth-drawn.txt": 41, "manuals-examples.txt": 93,
		"tldr-ordinary.txt": 307, "nl2bash.txt": 16, "ordinary.txt": 1,
	} {
		asked, ordinary := 0, labelled(t, name)
		for _, c := range ordinary {
			if names := unknown(c); len(names) > 0 {
				asked++
				t.Logf("unknown %q: %s", names, c)
			}
		}
		if t.Logf("%s: %d of %d unknown", name, asked, len(ordinary)); half == "" && asked > most {
			t.Errorf("%s: before it was %d", name, most)
		}
	}
	missed, asked := 0, 0
	for _, name := range []string{"dangerous.txt", "tldr-dangerous.txt", "manuals-dangerous.txt", "fourth-dangerous.txt", "fifth-a-dangerous.txt", "fifth-b-dangerous.txt", "sixth-a-dangerous.txt", "sixth-b-dangerous.txt"} {
		for _, c := range labelled(t, name) {
			if found, parsed := find(c); !parsed || len(found) > 0 {
				continue
			}
			if missed++; len(unknown(c)) > 0 {
				asked++
			} else {
				t.Logf("missed, and known: %s", c)
			}
		}
	}
	if t.Logf("%d dangerous commands missed, %d of them unknown", missed, asked); half == "" && missed-asked > 5 {
		t.Error("before 5 of them were known")
	}
}

func unknown(command string) []string {
	l, err := shell.Read(command, "bash", work.Cwd)
	if err != nil {
		return nil
	}
	return Unknown(l, work)
}
