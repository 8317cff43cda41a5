package narrative

import (
	"path"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// kindVariable is the kind of a variable of the session's environment. It exists in the narrative
// only, not in records.
const kindVariable recountv1.ResourceKind = 100

// output is a file that a simple command makes without naming it as one.
type output struct {
	name string // relative to the directory that the command runs in
	tree bool   // a directory with what is below it
}

// outputsOf has one line for each tool that makes files whose names follow from its arguments. A key
// is a program, or a program and its subcommand.
var outputsOf = map[string]func(s words) []output{
	"wget": func(s words) []output { return s.unless("-O --output-document", s.fromURL("-P --directory-prefix")) },
	"curl": func(s words) []output {
		return s.given("-O --remote-name --remote-name-all", s.fromURL("--output-dir"))
	},
	"aria2c":       func(s words) []output { return s.unless("-o --out", s.fromURL("-d --dir")) },
	"git clone":    func(s words) []output { return s.clone() },
	"gcc":          words.compiled,
	"g++":          words.compiled,
	"cc":           words.compiled,
	"c++":          words.compiled,
	"clang":        words.compiled,
	"clang++":      words.compiled,
	"gfortran":     words.compiled,
	"ld":           func(s words) []output { return s.unless("-o", []output{{name: "a.out"}}) },
	"rustc":        func(s words) []output { return s.unless("-o", s.renamed(".rs", "")) },
	"javac":        func(s words) []output { return s.renamed(".java", ".class") },
	"kotlinc":      func(s words) []output { return s.renamed(".kt", ".class") },
	"tsc":          func(s words) []output { return s.renamed(".ts", ".js") },
	"nasm":         func(s words) []output { return s.unless("-o", s.renamed(".asm", ".o")) },
	"go build":     words.goBuilt,
	"cargo build":  func(words) []output { return []output{{"target", true}} },
	"npm install":  func(words) []output { return []output{{"node_modules", true}} },
	"npm ci":       func(words) []output { return []output{{"node_modules", true}} },
	"yarn install": func(words) []output { return []output{{"node_modules", true}} },
	"tar":          func(s words) []output { return s.unpacked("-C --directory", ".tar", ".tgz") },
	"bsdtar":       func(s words) []output { return s.unpacked("-C --directory", ".tar", ".tgz") },
	"unzip":        func(s words) []output { return s.unpacked("-d", ".zip", ".jar", ".whl") },
	"gunzip":       func(s words) []output { return s.renamed(".gz", "") },
	"gzip":         func(s words) []output { return s.packed(".gz") },
	"bunzip2":      func(s words) []output { return s.renamed(".bz2", "") },
	"bzip2":        func(s words) []output { return s.packed(".bz2") },
	"unxz":         func(s words) []output { return s.renamed(".xz", "") },
	"xz":           func(s words) []output { return s.packed(".xz") },
	"ssh-keygen":   words.keys,
	"dd":           func(s words) []output { return named(s.assigned("of")) },
	"virtualenv":   func(s words) []output { return trees(s.arguments()) },
	"script":       func(s words) []output { return s.orDefault("typescript") },
	"nohup":        func(words) []output { return []output{{name: "nohup.out"}} },
	"terraform plan": func(s words) []output {
		return named(s.assigned("-out"))
	},
}

// words gives an entry of outputsOf what it reads of a simple command.
type words struct{ simple }

func (s words) ofKind(kind recountv1.TokenKind) (all []string) {
	for _, t := range s.tokens {
		if t.Kind == kind {
			all = append(all, strings.Trim(t.Text, `"'`))
		}
	}
	return all
}

// arguments returns the words that are neither the program, a subcommand nor a flag. The values of
// flags are among them.
func (s words) arguments() []string { return s.ofKind(recountv1.TokenKind_TOKEN_KIND_ARGUMENT) }

// has reports whether one of the flags, given as words, is set; short ones also in a group: -LO.
func (s words) has(flags string) bool {
	for _, f := range s.ofKind(recountv1.TokenKind_TOKEN_KIND_FLAG) {
		for want := range strings.FieldsSeq(flags) {
			if f == want || strings.HasPrefix(f, want+"=") || len(want) == 2 && len(f) > 2 && f[1] != '-' && strings.Contains(f[1:], want[1:]) {
				return true
			}
		}
	}
	return false
}

// value returns the word after one of the flags, or what follows its equals sign.
func (s words) value(flags string) string {
	for i, t := range s.tokens {
		if t.Kind != recountv1.TokenKind_TOKEN_KIND_FLAG {
			continue
		}
		for want := range strings.FieldsSeq(flags) {
			if v, ok := strings.CutPrefix(t.Text, want+"="); ok {
				return strings.Trim(v, `"'`)
			}
			if t.Text == want && i+1 < len(s.tokens) {
				return strings.Trim(s.tokens[i+1].Text, `"'`)
			}
		}
	}
	return ""
}

func (s words) unless(flags string, all []output) []output {
	if s.has(flags) {
		return nil
	}
	return all
}

func (s words) given(flags string, all []output) []output {
	if s.has(flags) {
		return all
	}
	return nil
}

// fromURL returns the last part of each URL, in the directory that a flag names.
func (s words) fromURL(flags string) (all []output) {
	dir := s.value(flags)
	for _, a := range s.arguments() {
		_, rest, ok := strings.Cut(a, "://")
		if !ok {
			continue
		}
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
		if name := path.Base(rest); strings.Contains(rest, "/") && !strings.HasSuffix(rest, "/") {
			all = append(all, output{name: path.Join(dir, name)})
		} else if s.program == "wget" {
			all = append(all, output{name: path.Join(dir, "index.html")})
		}
	}
	return all
}

func (s words) clone() []output {
	args := s.arguments()
	if len(args) == 0 {
		return nil
	}
	last := strings.TrimSuffix(args[len(args)-1], "/")
	if strings.ContainsAny(last, ":") || len(args) == 1 {
		last = strings.TrimSuffix(path.Base(last[strings.LastIndexByte(last, ':')+1:]), ".git")
	}
	return []output{{last, true}}
}

func (s words) compiled() []output {
	switch {
	case s.has("-E -S -fsyntax-only -v --version -M -MM") || s.value("-o") != "" || len(s.arguments()) == 0:
		return nil
	case s.has("-c"):
		var all []output
		for _, a := range s.arguments() {
			if base := path.Base(a); path.Ext(base) != "" && path.Ext(base) != ".o" {
				all = append(all, output{name: strings.TrimSuffix(base, path.Ext(base)) + ".o"})
			}
		}
		return all
	}
	return []output{{name: "a.out"}}
}

func (s words) goBuilt() []output {
	if s.value("-o") != "" {
		return nil
	}
	at := s.dir
	for _, a := range s.arguments() {
		switch {
		case strings.HasSuffix(a, ".go"):
			return named(strings.TrimSuffix(path.Base(a), ".go"))
		case strings.Contains(a, "..."):
			return nil
		case strings.HasPrefix(a, "."):
			at = path.Join(s.dir, a)
		}
	}
	if base := path.Base(at); base != "/" && base != "." {
		return named(base)
	}
	return nil
}

// renamed returns the arguments that end in from, with to in its place.
func (s words) renamed(from, to string) (all []output) {
	for _, a := range s.arguments() {
		if stem, ok := strings.CutSuffix(a, from); ok && stem != "" {
			all = append(all, output{name: stem + to})
		}
	}
	return all
}

// packed returns the arguments with the suffix that compressing adds.
func (s words) packed(suffix string) (all []output) {
	if s.has("-d -c --decompress --stdout") {
		return s.renamed(suffix, "")
	}
	for _, a := range s.arguments() {
		if !strings.HasSuffix(a, suffix) {
			all = append(all, output{name: a + suffix})
		}
	}
	return all
}

// unpacked returns the directory that a flag names, or the one that an archive is usually named
// after.
func (s words) unpacked(flags string, suffixes ...string) []output {
	if dir := s.value(flags); dir != "" {
		return []output{{dir, true}}
	}
	for _, a := range s.arguments() {
		for _, suffix := range suffixes {
			if i := strings.LastIndex(a, suffix); i > 0 && len(a)-i-len(suffix) <= 4 {
				return []output{{path.Base(a[:i]), true}}
			}
		}
	}
	return nil
}

func (s words) keys() []output {
	f := s.value("-f")
	if f == "" || s.has("-y -l -R -F -A") {
		return nil
	}
	return []output{{name: f}, {name: f + ".pub"}}
}

func (s words) orDefault(name string) []output {
	if len(s.arguments()) > 0 {
		return named(s.arguments()[0])
	}
	return named(name)
}

// assigned returns the value of a word NAME=VALUE.
func (s words) assigned(name string) string {
	for _, t := range s.tokens {
		if v, ok := strings.CutPrefix(strings.Trim(t.Text, `"'`), name+"="); ok {
			return v
		}
	}
	return ""
}

func named(name string) []output {
	if name == "" {
		return nil
	}
	return []output{{name: name}}
}

func trees(names []string) (all []output) {
	for _, n := range names {
		all = append(all, output{n, true})
	}
	return all
}

// outputs returns the files that a simple command makes by the table.
func (s simple) outputs() []Resource {
	make := outputsOf[s.program]
	if len(s.subs) > 0 {
		if m := outputsOf[s.program+" "+s.subs[0]]; m != nil {
			make = m
		}
	}
	if make == nil || !path.IsAbs(s.dir) {
		return nil
	}
	var all []Resource
	for _, o := range make(words{s}) {
		if o.name == "" || strings.ContainsAny(o.name, "$`*?{~\n") {
			continue
		}
		name := o.name
		if !path.IsAbs(name) {
			name = path.Join(s.dir, name)
		}
		r := Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: path.Clean(name), Access: Write}
		if o.tree {
			r.Access |= Tree
		}
		all = append(all, r)
	}
	return all
}

// variables returns the variables that a simple command sets for the session.
func (s simple) variables() []Resource {
	switch s.program {
	case "export", "unset", "set", "declare", "setenv":
	default:
		return nil
	}
	var all []Resource
	for _, t := range s.tokens {
		if t.Kind != recountv1.TokenKind_TOKEN_KIND_ARGUMENT && t.Kind != recountv1.TokenKind_TOKEN_KIND_ASSIGNMENT {
			continue
		}
		name, _, _ := strings.Cut(t.Text, "=")
		if name != "" && len(name) < 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" {
			all = append(all, Resource{Kind: kindVariable, Name: name, Access: Write})
		}
	}
	return all
}

// bare returns the arguments that would be files of the working directory if such files exist:
// words without a slash that nothing else explains. They matter only where an earlier command is
// known to have written a file of that name.
func (s simple) bare() []Resource {
	if !path.IsAbs(s.dir) || s.program == "echo" || s.program == "printf" || s.program == "cd" {
		return nil
	}
	var all []Resource
	for _, t := range s.tokens {
		// The first word after an unknown program is taken for a subcommand.
		if t.Kind != recountv1.TokenKind_TOKEN_KIND_ARGUMENT && t.Kind != recountv1.TokenKind_TOKEN_KIND_SUBCOMMAND || len(all) == maxBare {
			continue
		}
		w := strings.Trim(t.Text, `"'`)
		if w == "" || len(w) > 100 || w[0] == '-' || w[0] == '.' || strings.ContainsAny(w, "/$`*?[]{}()<>|&;=:~@ \t\n\\") {
			continue
		}
		all = append(all, Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: path.Join(s.dir, w), Access: Read | Implied | Bare})
	}
	return all
}

// maxBare is the maximum number of arguments of one simple command that are looked up as files.
const maxBare = 4
