package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
)

// narrative returns a plan below a directory with what makes scripts hard: a session whose shell is
// changed, another session, quotes, here-documents, an exit code other than 0, a directory with a
// space, and text that has a meaning in the languages of the scripts.
func narrative(dir string) replay.Plan {
	one := int32(1)
	spaced := dir + "/with space"
	steps := []replay.Step{
		{Command: "mkdir -p sub 'with space'", Cwd: dir, Session: "a"},
		{Command: "export WHO=alice", Cwd: dir, Session: "a", Sets: []string{"WHO"}},
		{Command: "cd sub && echo moved > moved.txt", Cwd: dir, Session: "a"},
		{Command: `echo "$WHO's \${{ secrets.X }}" > who.txt`, Cwd: dir, Session: "a", Needs: []replay.Need{{On: 1, Kind: replay.NeedEnvironment, What: "WHO"}}},
		{Command: `echo "other: ${WHO-nobody}" > other.txt`, Cwd: spaced, Session: "b", Needs: []replay.Need{{On: 0, Kind: replay.NeedDirectory, What: "with\nspace"}}},
		{Command: "cat > here.txt <<'RECOUNT'\n# no comment\n\ttab $WHO `x`\n- item \\\\\n@at\nendef\nRECOUNT", Cwd: dir, Session: "a"},
		{Command: "false; echo went on > on.txt", Cwd: dir, Session: "a"},
		{Command: "grep -q absent here.txt", Cwd: dir, Session: "a", Exit: &one},
		{Command: `printf '%s' "$GREETING" > greeting.txt`, Cwd: dir, Session: "a", Env: map[string]string{"GREETING": "it's $HOME"}},
	}
	for i := range steps {
		steps[i].Index = i
	}
	return replay.Plan{ID: "5f1d", Goal: replay.Goal{Kind: "session", What: "a\nrm -rf /"}, Steps: steps}
}

// made are the files that the narrative leaves.
var made = map[string]string{
	"on.txt": "went on\n", "sub/moved.txt": "moved\n", "who.txt": "alice's ${{ secrets.X }}\n", "with space/other.txt": "other: nobody\n",
	"here.txt": "# no comment\n\ttab $WHO `x`\n- item \\\\\n@at\nendef\n", "greeting.txt": "it's $HOME",
}

// check compares the files below a directory with what the narrative leaves.
func check(t *testing.T, dir string) {
	t.Helper()
	for name, want := range made {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// write returns a plan as a script in a file.
func write(t *testing.T, p replay.Plan, kind string) string {
	t.Helper()
	text, err := Write(p, kind)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// run runs a program without the test's environment.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func TestBashLeavesTheSameFiles(t *testing.T) {
	dir := t.TempDir()
	run(t, "bash", write(t, narrative(dir), "bash"))
	check(t, dir)
}

// TestActionsLeaveTheSameFiles runs the steps of a workflow as a runner does: each script in a bash
// of its own, with expressions replaced.
func TestActionsLeaveTheSameFiles(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(write(t, narrative(dir), "github-actions"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yamlv3.Unmarshal(text, &workflow); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	steps := workflow.Jobs["replay"].Steps
	if len(steps) != 9 {
		t.Fatalf("%d steps, want 9\n%s", len(steps), text)
	}
	if strings.Contains(string(text), `\u00`) {
		t.Errorf("names are not written as people read them:\n%s", text)
	}
	for _, s := range steps {
		run(t, "bash", "-e", "-c", strings.ReplaceAll(s.Run, "${{ '${{' }}", "${{"))
	}
	check(t, dir)
}

func TestMakeLeavesTheSameFiles(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := t.TempDir()
	run(t, "make", "-f", write(t, narrative(dir), "make"))
	check(t, dir)
}

// TestMakeTellsStepsNothing checks that the texts of steps are not in their environment.
func TestMakeTellsStepsNothing(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	p := replay.Plan{Steps: []replay.Step{
		{Index: 0, Cwd: dir, Command: "echo one >/dev/null # zebrafish"},
		{Index: 1, Cwd: dir, Command: "env > out # zebrafish", Needs: []replay.Need{{On: 0, Kind: replay.NeedOrder}}},
	}}
	run(t, "make", "-f", write(t, p, "make"))
	b, err := os.ReadFile(out)
	if err != nil || len(b) == 0 || strings.Contains(string(b), "zebrafish") {
		t.Errorf("%v: the step's environment has\n%s", err, b)
	}
}

// TestMakeHasAliases has a step that uses an alias of an earlier one.
func TestMakeHasAliases(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := t.TempDir()
	p := replay.Plan{Steps: []replay.Step{
		{Index: 0, Cwd: dir, Command: "alias g='echo hi'", Sets: []string{"alias g"}},
		{Index: 1, Cwd: dir, Command: "g > out", Needs: []replay.Need{{On: 0, Kind: replay.NeedEnvironment, What: "alias g"}}},
	}}
	run(t, "make", "-f", write(t, p, "make"))
	if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != "hi\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestMakeReadsSettingsInTheirDirectory has a file of variables that an earlier step read in another directory.
func TestMakeReadsSettingsInTheirDirectory(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	p := replay.Plan{Steps: []replay.Step{
		{Index: 0, Cwd: dir, Command: "echo MODE=x > vars"},
		{Index: 1, Cwd: dir, Command: ". ./vars", Sets: []string{"*"}, Needs: []replay.Need{{On: 0, Kind: replay.NeedFile}}},
		{Index: 2, Cwd: sub, Command: "echo $MODE > out", Needs: []replay.Need{{On: 1, Kind: replay.NeedEnvironment, What: "*"}}},
	}}
	run(t, "make", "-f", write(t, p, "make"))
	if b, err := os.ReadFile(filepath.Join(sub, "out")); err != nil || string(b) != "x\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestWhatAScriptCannotRunIsAComment(t *testing.T) {
	for _, ask := range []replay.Ask{
		{Kind: replay.AskTerminal, Text: "vim needs a terminal"},
		{Kind: replay.AskSyntax, Text: "it could not be parsed"},
		{Kind: replay.AskRedacted, Text: "a value was redacted"},
	} {
		p := replay.Plan{Steps: []replay.Step{{Command: "false one\nfalse two", Asks: []replay.Ask{ask}}}}
		for _, kind := range Kinds {
			text, err := Write(p, kind)
			if err != nil || !strings.Contains(text, ask.Text) || !strings.Contains(text, "false one") {
				t.Errorf("%s, %s: %v\n%s", ask.Kind, kind, err, text)
			}
		}
		run(t, "bash", write(t, p, "bash"))
	}
}

// TestSecretsAreGiven checks that a script stops before its first step while a value is missing, and
// takes it from the environment.
func TestSecretsAreGiven(t *testing.T) {
	dir := t.TempDir()
	p := replay.Plan{Steps: []replay.Step{
		{Index: 0, Command: "echo began > began.txt", Cwd: dir},
		{Index: 1, Command: `echo "$TOKEN" > token.txt`, Cwd: dir, Asks: []replay.Ask{{Kind: replay.AskRedacted, Text: "give it", Name: "TOKEN"}}},
	}}
	file := write(t, p, "bash")
	c := exec.Command("bash", file)
	c.Env = []string{"PATH=" + os.Getenv("PATH")}
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "TOKEN") {
		t.Errorf("without the value: %v %s", err, out)
	}
	if _, err := os.Stat(dir + "/began.txt"); err == nil {
		t.Error("the first step ran")
	}
	c = exec.Command("bash", file)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "TOKEN=t0p"}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if got, err := os.ReadFile(dir + "/token.txt"); err != nil || string(got) != "t0p\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestZshHasItsVariables has a variable of a session of zsh that is not exported: what runs in a zsh of its own has it.
func TestZshHasItsVariables(t *testing.T) {
	if _, err := exec.LookPath("zsh"); err != nil {
		t.Skip("zsh is not installed")
	}
	for kind, program := range map[string][]string{"bash": {"bash"}, "make": {"make", "-f"}} {
		dir := t.TempDir()
		p := replay.Plan{Steps: []replay.Step{
			{Index: 0, Cwd: dir, Shell: "zsh", Command: "n=3", Sets: []string{"n"}},
			{Index: 1, Cwd: dir, Shell: "zsh", Command: "for ((i=0;i<n;i++)); do echo $i; done > nums", Needs: []replay.Need{{On: 0, Kind: replay.NeedEnvironment, What: "n"}}},
		}}
		run(t, program[0], append(program[1:], write(t, p, kind))...)
		if b, err := os.ReadFile(filepath.Join(dir, "nums")); err != nil || string(b) != "0\n1\n2\n" {
			t.Errorf("%s: %q, %v", kind, b, err)
		}
	}
}

// TestDangerIsAsked checks that no kind of script runs a dangerous step by itself.
func TestDangerIsAsked(t *testing.T) {
	for _, session := range []string{"", "other"} {
		dir := t.TempDir()
		p := replay.Plan{Steps: []replay.Step{
			{Index: 0, Command: "export A=1", Cwd: dir, Sets: []string{"A"}},
			{Index: 1, Command: "touch done", Cwd: dir, Session: session, Danger: []danger.Finding{{Why: "it's\ndangerous", What: "touch"}}},
		}}
		file := write(t, p, "bash")
		c := exec.Command("bash", file)
		c.SysProcAttr = noTerminal()
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "dangerous: touch") || !strings.Contains(string(out), "RECOUNT_YES=1") {
			t.Errorf("without a terminal: %v\n%s", err, out)
		}
		if _, err := os.Stat(dir + "/done"); err == nil {
			t.Error("the dangerous step ran")
		}
		c = exec.Command("bash", file)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "RECOUNT_YES=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("with a yes: %v %s", err, out)
		}
		if _, err := os.Stat(dir + "/done"); err != nil {
			t.Error(err)
		}
	}
}

// TestShellcheckIsSilent runs shellcheck on what bash scripts have around the commands.
func TestShellcheckIsSilent(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	p := narrative("/nowhere")
	p.Steps[2].Danger = []danger.Finding{{Why: "it is dangerous", What: "cd"}}
	p.Steps[3].Background = true
	p.Steps[3].Asks = []replay.Ask{{Kind: replay.AskRedacted, Text: "give it", Name: "TOKEN"}}
	run(t, "shellcheck", write(t, p, "bash"))
}

func TestUnknownKind(t *testing.T) {
	if _, err := Write(replay.Plan{}, "powershell"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("%v", err)
	}
}

// TestMissingEventsAreSaid checks that a script of any kind says which events its plan is without.
func TestMissingEventsAreSaid(t *testing.T) {
	p := narrative("/nowhere")
	p.Missing = []replay.Missing{{Ref: "recount.commands/1/48", Text: "erased\nrm -rf /"}}
	for _, kind := range Kinds {
		text, err := Write(p, kind)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "Missing: recount.commands/1/48: erased") || strings.Contains(text, "\nrm -rf /") {
			t.Errorf("%s:\n%s", kind, text)
		}
	}
}

// TestInputsAreExpected checks that scripts make their directory, name the files that have to be there, and stop before
// their first step where one is missing that is certainly read.
func TestInputsAreExpected(t *testing.T) {
	for _, kind := range []string{"bash", "make"} {
		dir := filepath.Join(t.TempDir(), "new dir")
		input := filepath.Join(filepath.Dir(dir), "it's $in.txt")
		p := replay.Plan{
			Steps: []replay.Step{
				{Index: 0, Command: "echo began > began", Cwd: dir},
				{Index: 1, Command: `cat ../it*.txt > out`, Cwd: dir, Needs: []replay.Need{{On: 0, Kind: replay.NeedFile, What: "began"}}},
			},
			Inputs: []replay.Input{{Path: input, Step: 1, Certain: true}, {Path: "/nowhere/rc", Step: 0}},
		}
		file := write(t, p, kind)
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "#   "+input+" (step 2 reads it)\n#   /nowhere/rc (step 1 may read it)\n") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
		args := []string{file}
		if kind == "make" {
			args = []string{"-f", file}
		}
		out, err := exec.Command(kind, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "missing: "+input+", which step 2 reads") {
			t.Errorf("%s without its input: %v\n%s", kind, err, out)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the first step began", kind)
		}
		if err := os.WriteFile(input, []byte("in\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, kind, args...)
		if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != "in\n" {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
		if _, err := exec.LookPath("shellcheck"); err == nil && kind == "bash" {
			run(t, "shellcheck", file)
		}
	}
}

// TestOwnShells runs steps that changed shells of their own: nothing of it is left for what follows, and set -e and exit are
// theirs.
func TestOwnShells(t *testing.T) {
	one, three := int32(1), int32(3)
	for kind, program := range map[string][]string{"bash": {"bash"}, "make": {"make", "-f"}} {
		dir := t.TempDir()
		p := replay.Plan{Steps: []replay.Step{
			{Command: "X=5; fun() { echo f; }; fun > fn", Cwd: dir, OwnShell: true},
			{Command: "set -e; false; echo never > never", Cwd: dir, OwnShell: true, Exit: &one},
			{Command: "echo it\\'s > y; exit 3", Cwd: dir, OwnShell: true, Exit: &three},
			{Command: "fun > fn2 2>/dev/null || echo \"none$X\" > fn2", Cwd: dir},
		}}
		for i := range p.Steps {
			p.Steps[i].Index, p.Steps[i].Session = i, "a"
		}
		run(t, program[0], append(program[1:], write(t, p, kind))...)
		for name, want := range map[string]string{"fn": "f\n", "y": "it's\n", "fn2": "none\n"} {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
				t.Errorf("%s: %s: %q, %v", kind, name, b, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
			t.Errorf("%s: set -e had no effect", kind)
		}
	}
}

// TestUnwrittenChanges checks that a script with a change of a file whose text is not known stops before its first step.
func TestUnwrittenChanges(t *testing.T) {
	for kind, program := range map[string][]string{"bash": {"bash"}, "make": {"make", "-f"}} {
		dir := t.TempDir()
		p := replay.Plan{Steps: []replay.Step{
			{Index: 0, Command: "echo began > began", Cwd: dir},
			{Index: 1, Command: "create gen.sh", Cwd: dir, Asks: []replay.Ask{{Kind: replay.AskUnwritten, Text: "the text of it's change was not recorded"}}},
		}}
		out, err := exec.Command(program[0], append(program[1:], write(t, p, kind))...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "step 2: the text of it's change was not recorded") || strings.Contains(string(out), "not found") {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
			t.Errorf("%s: the first step ran", kind)
		}
	}
}
