package danger

import (
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/replay/shell"
)

// half selects which half of the labelled commands is looked at: RECOUNT_DANGER_HALF=a while rules
// are written, both in every other run.
var half = os.Getenv("RECOUNT_DANGER_HALF")

var work = Place{Cwd: "/home/ann/work", Home: "/home/ann"}

// labelled returns the commands of a file of testdata.
func labelled(t *testing.T, name string) (all []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(line))
		if half == "a" && h.Sum32()%2 != 0 {
			continue
		}
		if name != "nl2bash.txt" {
			line = strings.ReplaceAll(line, `\n`, "\n")
		}
		all = append(all, line)
	}
	return all
}

// find returns what is found in a command; a command without a syntax tree is never run unseen, so
// it counts as asked about and is reported as not parsed.
func find(command string) (found []Finding, parsed bool) {
	l, err := shell.Read(command, "bash", work.Cwd)
	if err != nil {
		return nil, false
	}
	return Find(l, work), true
}

func TestDangerousCommandsAreFound(t *testing.T) {
	racing.Alone(t)
	all := labelled(t, "dangerous.txt")
	if half == "" && len(all) < 100 {
		t.Errorf("%d labelled commands, want 100 or more", len(all))
	}
	missed := 0
	for _, c := range all {
		found, parsed := find(c)
		if !parsed {
			t.Errorf("not parsed: %s", c)
		}
		if len(found) == 0 {
			missed++
			t.Errorf("missed: %s", c)
		}
	}
	t.Logf("%d dangerous commands, %d missed", len(all), missed)
}

func TestOrdinaryCommandsPass(t *testing.T) {
	racing.Alone(t)
	var all []string
	for _, name := range []string{"nl2bash.txt", "ordinary.txt"} {
		all = append(all, labelled(t, name)...)
	}
	flagged, unparsed := 0, 0
	for _, c := range all {
		found, parsed := find(c)
		if !parsed {
			unparsed++
		}
		if len(found) > 0 {
			flagged++
			t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
		}
	}
	t.Logf("%d ordinary commands, %d flagged, %d without a syntax tree", len(all), flagged, unparsed)
	if half == "" && len(all) < 500 {
		t.Errorf("%d labelled commands, want 500 or more", len(all))
	}
	if flagged*50 > len(all) {
		t.Errorf("%d of %d flagged, want at most 2 %%", flagged, len(all))
	}
}

// TestWhereItIsDangerous checks what a finding says about where it is one.
func TestWhereItIsDangerous(t *testing.T) {
	for command, want := range map[string]Finding{
		"git push -q origin main":            {Remotes: "/home/ann/work"},
		"git -C sub push --force":            {Remotes: "/home/ann/work/sub"},
		"git push https://example.com/x.git": {},
		"git reset --hard":                   {Clean: "/home/ann/work"},
		"git -C sub stash drop":              {Clean: "/home/ann/work/sub"},
		"git worktree remove --force ../wt":  {Clean: "/home/ann/wt"},
		"git -C sub branch -qD a/b":          {Clean: "/home/ann/work/sub"},
		"git branch -D $(git branch)":        {},
		"git gc --prune=now":                 {},
		"git checkout v1 -- a.txt b":         {Clean: "/home/ann/work", Files: []string{"a.txt", "b"}},
		"git -C sub checkout -- .":           {Clean: "/home/ann/work/sub", Files: []string{"."}},
		"git restore -s v1 src/":             {Clean: "/home/ann/work", Files: []string{"src/"}},
		"git checkout v1 -- a.txt $f":        {Clean: "/home/ann/work"},
		"git clean -fdq build out":           {Clean: "/home/ann/work", Files: []string{"build", "out"}},
		"git -C sub clean -fdx -e keep":      {Clean: "/home/ann/work/sub", Files: []string{"."}},
		"git checkout -f main":               {Clean: "/home/ann/work"},
		"make deploy":                        {Open: true},
		"frob deploy":                        {Open: true},
		"frob delete x":                      {},
		"curl -d x https://example.com":      {},
		"pkill -f server.py":                 {Open: true},
		"kill 4711":                          {Open: true},
		"fuser -k 8080/tcp":                  {Open: true},
		"tmux kill-server":                   {},
	} {
		found, _ := find(command)
		if len(found) == 0 {
			t.Errorf("%s: no finding", command)
		}
		for _, f := range found {
			if f.Remotes != want.Remotes || f.Clean != want.Clean || !slices.Equal(f.Files, want.Files) || f.Open != want.Open {
				t.Errorf("%s: %+v, want %+v", command, f, want)
			}
		}
	}
}

// TestVariables judges words that stand for what the line itself says.
func TestVariables(t *testing.T) {
	for command, dangerous := range map[string]bool{
		`tmp=$(mktemp -d) && tar -xf a.tar -C "$tmp" && rm -rf "$tmp"`:          false,
		`tmp=$(mktemp -d -p /srv) && rm -rf "$tmp"`:                             true,
		`d=build; rm -rf "$d"`:                                                  false,
		`d=/srv/app; rm -rf "$d/old"`:                                           true,
		`rm -rf "$d"; d=build`:                                                  true,
		`d=build; [ -n "$1" ] && d=$1; rm -rf "$d"`:                             true,
		`for d in packages/*/node_modules; do rm -rf "$d"; done`:                false,
		`for d in build /srv/app; do rm -rf "$d"; done`:                         true,
		`for d in build; do rm -rf "${d}/../../.."; done`:                       true,
		`docker run --rm -v "$PWD":/src -w /src alpine rm -rf build`:            false,
		`docker run --rm -v "$PWD/..":/src -w /src alpine rm -rf build`:         true,
		`docker run --rm -v data:/data alpine rm -rf /data`:                     true,
		`docker run --rm -v ./a:/a --volume=/srv:/b alpine sh -c 'rm -rf /b/*'`: true,
		"kubectl -n prod get deploy api -o yaml":                                false,
		"lima nerdctl run --rm hello-world":                                     false,
		"limactl delete default":                                                true,
		"dotnet publish -c Release":                                             false,
		"dotnet publish /p:PublishProfile=prod":                                 true,
		"symfony server:stop":                                                   false,
		"symfony environment:delete staging":                                    true,
		"git push file:///home/ann/work/backup.git --all":                       false,
		"git push origin main:production":                                       true,
		"kcat -b kafka.example.com:9092 -P -t orders":                           true,
		"kcat -b localhost:9092 -P -t orders":                                   false,
		"sudo systemsetup -getremotelogin":                                      false,
	} {
		if found, _ := find(command); (len(found) > 0) != dangerous {
			t.Errorf("%s: found %+v, want dangerous %t", command, found, dangerous)
		}
	}
}
