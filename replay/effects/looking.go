package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// displays reports whether a program that changes things was asked to display something only: what it
// would do, a setting, or what is in a file.
func displays(c *shell.Call) bool {
	if c.Flag("--dry-run") {
		return true
	}
	ws := shell.Operands(c.Args, "")
	second := func(words ...string) bool { return len(ws) > 1 && slices.Contains(words, ws[1].Value) }
	switch c.Name {
	case "kill":
		return len(c.Args) > 0 && (c.Args[0].Value == "-0" || c.Args[0].Value == "-l" || c.Args[0].Value == "-L")
	case "git":
		switch c.Sub() {
		case "bundle":
			return second("list-heads", "verify")
		case "worktree":
			return second("list")
		case "replace":
			after := shell.Call{Args: c.After()}
			return after.Flag("-l", "--list") || len(after.Args) == 0
		case "rerere":
			return second("status", "diff", "remaining")
		case "submodule":
			if second("foreach") {
				inner := shell.Operands(c.Args, "")[2:]
				return len(inner) > 1 && inner[0].Value == "git" && lookingSubs["git"][inner[1].Value]
			}
			return second("status", "summary") || len(ws) == 1
		case "apply":
			return c.Flag("--check", "--stat", "--numstat", "--summary")
		case "am", "rebase":
			return c.Flag("--show-current-patch")
		case "format-patch":
			return c.Flag("--stdout")
		case "clean":
			return c.Flag("-n")
		case "symbolic-ref":
			return len(ws) < 3 && !c.Flag("-d", "--delete")
		}
	case "go":
		return (c.Sub() == "work" || c.Sub() == "mod") && c.Flag("-json", "-print")
	case "gofmt", "gofumpt", "goimports":
		return !c.Flag("-w")
	case "ssh": // without a command for the other machine, which is judged by itself
		return c.Flag("-G", "-V", "-Q")
	case "cmake":
		return c.Flag("-N") && len(c.Args) > 1 && !strings.HasPrefix(c.Args[0].Value, "--")
	case "bash", "sh", "dash":
		return len(c.Args) > 0 && c.Args[0].Value == "-n"
	case "java", "javac", "scala", "kotlin":
		return len(c.Args) == 1 && (c.Args[0].Value == "-version" || c.Args[0].Value == "--version")
	case "unzip":
		return c.Flag("-l", "-p", "-t", "-v", "-Z")
	case "dpkg-deb":
		return c.Flag("--info", "-I", "--contents", "-c", "--field", "-f", "--show", "-W")
	case "dpkg":
		return c.Flag("-l", "-L", "-s", "-S", "-p", "-C", "-V", "--list", "--listfiles", "--status", "--search", "--print-avail", "--audit", "--verify", "--get-selections",
			"--print-architecture", "--compare-versions", "--no-act", "--simulate")
	case "pkg-config", "pkgconf":
		return true
	case "ninja":
		w, ok := c.FlagValue("-t")
		return c.Flag("-n") || ok && w.Value != "clean" && w.Value != "cleandead" && w.Value != "restat" && w.Value != "recompact"
	case "perl":
		return c.Flag("-c") && len(c.Args) < 4
	case "ruby", "php", "node":
		return len(c.Args) == 1 && (c.Args[0].Value == "-v" || c.Args[0].Value == "--version") || c.Flag("--check", "-c") && len(c.Args) == 2
	case "diff3", "sdiff":
		return !c.Flag("-o", "--output")
	case "json.tool":
		return len(ws) < 2
	case "make", "gmake":
		return c.Flag("-n", "--just-print", "--dry-run", "--recon", "-q", "--question") || len(ws) == 1 && ws[0].Value == "help"
	case "npm", "pnpm":
		return len(ws) > 1 && (ws[0].Value == "pkg" || ws[0].Value == "config") && ws[1].Value == "get"
	}
	return false
}

// tests reports whether a builder was asked to test or judge only.
func (f *finder) tests(c *shell.Call) bool {
	if f.covers(c) {
		return false
	}
	ws := shell.Operands(c.Args, "-C -f -j -k --prefix -p --manifest-path")
	if len(ws) == 0 {
		return false
	}
	if (c.Name == "npm" || c.Name == "yarn" || c.Name == "pnpm" || c.Name == "bun") && ws[0].Value == "run" && len(ws) > 1 {
		ws = ws[1:]
	}
	tests := false
	for _, w := range ws {
		if strings.Contains(w.Value, "=") {
			continue
		}
		if !checkingSubs[w.Value] || w.Value == "version" && len(ws) > 1 {
			return false
		}
		tests = true
		if c.Name != "make" && c.Name != "gmake" && c.Name != "just" && c.Name != "task" {
			return true
		}
	}
	return tests
}

// covers reports whether a test writes a file that it is told to.
func (f *finder) covers(c *shell.Call) bool {
	return c.Flag("-coverprofile", "--coverprofile", "-o", "--output", "--junitxml", "--json-report", "-out", "-cpuprofile", "--cov-report", "--fix", "--write", "--in-place", "--fix-all", "-a", "--autocorrect")
}

// oneLine judges an interpreter with a program in a word, or with none.
func (f *finder) oneLine(c *shell.Call) bool {
	for i, a := range c.Args {
		switch a.Value {
		case "-c", "-e", "-E", "--eval", "-p", "--print", "-ne", "-pe", "-le":
			if i+1 >= len(c.Args) {
				return false
			}
			acts := f.acts
			if f.oneLiner(c, c.Args[i+1]) {
				return false
			}
			if f.acts == acts {
				f.sees++
			}
			f.reads(c.Dir)
			f.Known = false
			return true
		case "--check", "--version", "-V", "-v":
			if len(c.Args) <= 2 {
				f.sees++
				return true
			}
		}
	}
	if len(shell.Operands(c.Args, "")) == 0 && !c.Piped && !c.Fed {
		f.sees++ // without a program: interactive
		return true
	}
	return false
}

// plain matches arguments that name no file.
var plain = lazyregexp.New(`^-{0,2}[\w-]*(=\w*)?$`)

// makes are verbs of programs that make or change something.
var makes = words("init generate gen build install new create migrate up setup run start make add import update sync fetch write save export pack post publish delete remove rm rebuild apply deploy load store put set copy move clean reset seed compile render convert format fix download upload --output --write --init --save --out -o -w -O --fix --force")

// showing are subcommands and flags that ask for something to be displayed, and names of programs that do so.
var showing = words("list ls show get status info help commands versions version check query whence which who whoami search print describe view cat diff dump dumpdata stat stats count test lint verify --list --show --print --get --dump --query --help --version --status --check --count --list-presets --dry-run")

// alone are flags that ask for something to be displayed where they are all that a program is told.
var alone = words("-h -v -V -l")

// shows reports whether the words of a call ask for something to be displayed, or it gives what it prints to another
// command. Where it was seen to change nothing, it is taken at its word.
func shows(c *shell.Call) bool {
	if len(c.Via) > 0 || c.Background || installers[c.Name][c.Sub()] {
		return false
	}
	asked := c.Drained || len(c.Args) == 1 && alone[c.Args[0].Value]
	ws := shell.Operands(c.Args, "")
	for i, w := range c.Args {
		if makes[w.Value] || w.Dynamic && w.Glob {
			return false
		}
		flag := strings.HasPrefix(w.Value, "-")
		operand := slices.IndexFunc(ws, func(o shell.Word) bool { return o.Text == w.Text })
		asked = asked || showing[w.Value] && (flag && i < 3 || !flag && operand < 2)
	}
	base := path.Base(c.Head.Value)
	return asked || showing[strings.TrimSuffix(base, path.Ext(base))]
}

// bare judges a program that is called by its path, with arguments that name no file and ask for nothing to
// be made.
func (f *finder) bare(c *shell.Call) bool {
	if slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Dynamic || w.Glob || !plain.MatchString(w.Value) || makes[w.Value] }) {
		return false
	}
	if !strings.Contains(c.Head.Value, "/") || c.Inner || c.Background || len(f.Line.Calls) > 1 || len(f.Line.Redirects) > 0 {
		return false
	}
	name := path.Base(c.Head.Value)
	for _, maker := range []string{"configure", "bootstrap", "autogen", "build", "install", "setup", "gen", "make", "run", "deploy", "release", "update", "clean", "init", "start", "gradlew", "mvnw", "prepare", "create", "sync", "compile", "bin/"} {
		if strings.HasPrefix(name, maker) {
			return false
		}
	}
	if path.Ext(name) != "" {
		return false
	}
	if p, ok := shell.Resolve(f.expand(c.Head), c.Dir, f.c.Home); ok {
		f.Runs = p
		f.add(Thing{Kind: Path, Name: p, Access: Read})
	}
	f.Known = false
	f.acts++
	f.opaque(c.Dir)
	return true
}
