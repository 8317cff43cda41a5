package recount

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/recountdb/recount"

// mayImport is the table of docs/ARCHITECTURE.md ("The folders"): which of
// our folders a folder may import, besides itself. Data flows downwards through the
// list, and imports point upwards only.
var mayImport = map[string][]string{
	"schemas":     {},
	"pipeline":    {"schemas"},
	"languages":   {"schemas"},
	"processors":  {"schemas", "languages"},
	"projections": {"schemas", "languages"},
	"query":       {"schemas", "languages", "projections", "internal/tokens", "internal/lazyregexp"},
	"replay":      {"schemas", "processors", "query", "internal/lazyregexp"},
	"server":      {"schemas", "pipeline", "languages", "processors", "projections", "query", "replay", "internal", "internal/tokens", "internal/replaying"},
	"configs":     {},
	"internal":    {"schemas", "internal/tokens"},
	// What the verbs do beside reading flags; see onlyProgram.
	"internal/render":       {"*"},
	"internal/connect":      {"*"},
	"internal/importing":    {"*"},
	"internal/commandevent": {"*"},
	"internal/execute":      {"*"},
	"internal/hookrun":      {"*"},
	"internal/tokenfile":    {"*"},
	"internal/quickstart":   {"*"},
	// The interface of recount search.
	"internal/terminalsearch": {"*"},
	// They execute a plan and write down what it does, for the program and for a server.
	"internal/replaying":     {"schemas", "query", "replay", "server", "internal", "internal/replayjournal"},
	"internal/replayjournal": {"schemas", "server", "internal"},
	// Tokens are counted where an answer is cut to a budget.
	"internal/tokens": {},
	// Regular expressions that nobody uses cost no time at the start.
	"internal/lazyregexp": {},
	"cmd":                 {"*"},
	"examples":            {"schemas", "projections"},
}

// onlyIn says who may import a library: a folder covers what is below it.
var onlyIn = map[string][]string{
	"github.com/twmb/franz-go/pkg/kgo":       {"pipeline"},
	"github.com/twmb/franz-go/pkg/kadm":      {"pipeline"},
	"github.com/twmb/franz-go/pkg/kmsg":      {"pipeline"},
	"github.com/redpanda-data/benthos":       {"pipeline/streams", "processors/adapter"},
	"github.com/cockroachdb/pebble":          {"pipeline/broker", "projections"},
	"github.com/apache/arrow-go":             {"schemas", "projections/segment"},
	"github.com/smacker/go-tree-sitter":      {"languages"},
	"google.golang.org/grpc":                 {"server/otlp", "server/node"},
	"github.com/fsnotify/fsnotify":           {"internal/gitwatch"},
	"github.com/danielgtaylor/huma":          {"server"},
	"github.com/spf13/cobra":                 {"cmd"},
	"mvdan.cc/sh":                            {"processors/command", "replay"},
	"modernc.org/sqlite":                     {"internal/history"},
	"golang.org/x/sys/cpu":                   {"projections/vector/kernel"},
	"github.com/tiktoken-go/tokenizer":       {"internal/tokens"},
	"github.com/landlock-lsm/go-landlock":    {"replay/sandbox"},
	"github.com/elastic/go-seccomp-bpf":      {"replay/sandbox"},
	"github.com/coder/hnsw":                  {"projections/vector/coder"},
	"github.com/DataDog/sketches-go":         {"projections/runtime"},
	"github.com/twmb/franz-go/pkg/kfake":     {},
	"github.com/modelcontextprotocol/go-sdk": {"server/mcp"},
	"charm.land/bubbletea":                   {"internal/terminalsearch"},
}

// onlyProgram names the packages below internal that only cmd and each other may import.
var onlyProgram = []string{
	"internal/render", "internal/connect", "internal/importing", "internal/commandevent",
	"internal/execute", "internal/hookrun", "internal/tokenfile", "internal/quickstart", "internal/terminalsearch",
}

// folderOf returns the folder of a package in mayImport.
func folderOf(path string) string {
	for _, f := range onlyProgram {
		if path == f || strings.HasPrefix(path, f+"/") {
			return f
		}
	}
	if slices.Contains([]string{"internal/tokens", "internal/lazyregexp", "internal/replaying", "internal/replayjournal"}, path) {
		return path
	}
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestImportsPointUpwards keeps mayImport true, for the packages
// themselves; their tests may import what they need, and packages that are parts of tests
// (projtest) what is internal.
func TestImportsPointUpwards(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		from, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue // the root holds this test alone
		}
		folder := folderOf(from)
		allowed, known := mayImport[folder]
		if !known {
			t.Errorf("%s: folder %q is not in mayImport (arch_test.go): add it, and to docs/ARCHITECTURE.md", p.ImportPath, folder)
			continue
		}
		seen[folder] = true
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours {
				target := folderOf(to)
				if slices.Contains(onlyProgram, target) && !slices.Contains(onlyProgram, folder) && folder != "cmd" {
					t.Errorf("%s imports %s, which belongs to the program (cmd)", p.ImportPath, imp)
				}
				ofTests := strings.HasSuffix(from, "test") && target == "internal"
				if target != folder && !ofTests && !slices.Contains(allowed, target) && !slices.Contains(allowed, "*") {
					t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, imp, folder, allowed)
				}
				continue
			}
			for lib, homes := range onlyIn {
				if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !slices.ContainsFunc(homes, func(home string) bool {
					return from == home || strings.HasPrefix(from, home+"/")
				}) {
					t.Errorf("%s imports %s, which belongs to %v", p.ImportPath, imp, homes)
				}
			}
		}
	}
	for _, folder := range []string{"schemas", "pipeline", "languages", "processors", "projections", "query", "server", "cmd"} {
		if !seen[folder] {
			t.Errorf("no package below %s: the table is stale", folder)
		}
	}
}

// TestFrontIsSmall keeps the program that people type from linking the engine, which maps tens of
// megabytes and runs hundreds of initialisers at each start (decision 108).
func TestFrontIsSmall(t *testing.T) {
	apis := []string{
		module + "/languages", module + "/replay", module + "/internal/connect", module + "/server/node", module + "/server/api",
		"github.com/smacker/go-tree-sitter", "github.com/danielgtaylor/huma", "google.golang.org/grpc", "modernc.org/sqlite",
	}
	linksNone(t, "./cmd/recount-local", 650, apis)
	linksNone(t, "./cmd/recount-front", 400, append(apis, module+"/pipeline", module+"/processors", module+"/server",
		module+"/projections/store", "github.com/cockroachdb/pebble", "github.com/twmb/franz-go"))
}

// linksNone checks that a program links none of the packages and no more than most packages.
func linksNone(t *testing.T, program string, most int, packages []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	deps := 0
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		deps++
		for _, bad := range packages {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("%s links %s, a part of the engine", program, dep)
			}
		}
	}
	if deps < 50 || deps > most {
		t.Errorf("%s links %d packages, want 50 to %d", program, deps, most)
	}
}

// maxFiles is the largest number of files, without tests, that a package may have. One that grows
// beyond it has two ideas: give the second a package, or put files alike together.
const maxFiles = 40

func TestPackagesAreNotTooLarge(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{len .GoFiles}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		path, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("go list: %q", line)
		}
		if packages++; n > maxFiles {
			t.Errorf("%s has %d files, at most %d are wanted", path, n, maxFiles)
		}
	}
	if packages < 100 {
		t.Errorf("go list found %d packages", packages)
	}
}

// engines are the packages below languages/ that are no language. They know none.
var engines = []string{"extract", "flow", "formats", "registry", "resolve", "resolvetest", "scope", "typed"}

// TestLanguagesAreIndependent keeps a language in one folder: nothing below languages/
// imports the folder of a language but the table in languages itself.
func TestLanguagesAreIndependent(t *testing.T) {
	folders := 0
	for _, p := range listPackages(t) {
		from, ok := strings.CutPrefix(p.ImportPath, module+"/languages/")
		if !ok {
			continue
		}
		folder, _, _ := strings.Cut(from, "/")
		if !slices.Contains(engines, folder) {
			folders++
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module+"/languages/")
			if target, _, _ := strings.Cut(to, "/"); ours && target != folder && !slices.Contains(engines, target) {
				t.Errorf("%s imports %s: a language is known by its own folder and by the table only", p.ImportPath, imp)
			}
		}
	}
	if folders < 10 {
		t.Errorf("%d folders of languages: the test is stale", folders)
	}
}

// TestNothingPhonesHome keeps telemetry and enterprise code out of the binary:
// the full Redpanda Connect distribution has both, its core has neither.
func TestNothingPhonesHome(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, bad := range []string{"connect/v4/internal/telemetry", "connect/v4/internal/license", "kafka/enterprise"} {
			if strings.Contains(dep, bad) {
				t.Errorf("the module depends on %s", dep)
			}
		}
	}
}

// TestNothingCitesWhatIsNotHere keeps names of the founders' own notes, which are not in
// the repository, out of every tracked text file: say what they say, or name the page in
// docs that says it.
func TestNothingCitesWhatIsNotHere(t *testing.T) {
	notes := []string{"DES" + "IGN", "FIND" + "INGS", "TRI" + "ED", "HOU" + "SE", "SEED" + "-GAPS", "SCA" + "LE", "STY" + "LE", `\.\./sha` + "red"}
	out, err := exec.Command("git", "grep", "-nIwE", strings.Join(notes, "|")).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return // nothing found
	}
	if err != nil {
		t.Fatalf("git grep: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		t.Errorf("cites a document that is not in the repository: %s", strings.TrimSpace(line))
	}
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}
