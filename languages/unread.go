package languages

import (
	"path"
	"strings"

	"github.com/recountdb/recount/languages/golang"
)

// unread has the programming languages that are not read, by the extensions of their files.
var unread = func() map[string]string {
	all := map[string]string{}
	for name, extensions := range map[string]string{
		"Ada": "adb ads", "Assembly": "asm s", "C": "c h", "C++": "cc cpp cxx hpp hh hxx", "CUDA": "cu cuh", "Clojure": "clj cljs cljc", "COBOL": "cob cbl",
		"Crystal": "cr", "D": "d", "Dart": "dart", "Elixir": "ex exs", "Elm": "elm", "Erlang": "erl hrl", "F#": "fs fsi fsx", "Fortran": "f90 f95 f03 f",
		"Groovy": "groovy", "Haskell": "hs", "Julia": "jl", "Kotlin": "kt kts", "Lua": "lua", "Nim": "nim", "Objective-C": "m mm", "OCaml": "ml mli",
		"Pascal": "pas", "Perl": "pl pm", "PHP": "php", "PowerShell": "ps1 psm1", "R": "r", "Ruby": "rb rake gemspec", "Scala": "scala sc", "Scheme": "scm ss",
		"Shell": "sh bash zsh fish", "Solidity": "sol", "Svelte": "svelte", "Swift": "swift", "Tcl": "tcl", "Verilog": "v sv", "VHDL": "vhd vhdl", "Visual Basic": "vb", "Vue": "vue", "Zig": "zig",
	} {
		for ext := range strings.FieldsSeq(extensions) {
			all[ext] = name
		}
	}
	return all
}()

// Unresolved returns why a file that is read has no edges, "" if it may have some.
func Unresolved(file string) string {
	dir, _ := path.Split(file)
	if strings.HasSuffix(file, ".go") && golang.Ignored(strings.TrimSuffix(dir, "/")) {
		return "go build ./... leaves out " + strings.TrimSuffix(dir, "/")
	}
	return ""
}

// Unread returns the name of the programming language of a file that no language here reads, ""
// if a language reads it or it is not known to be code.
func Unread(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	i := strings.LastIndexByte(base, '.')
	if i < 0 {
		return ""
	}
	name := unread[strings.ToLower(base[i+1:])]
	if name == "" || NameOf(path) != "" {
		return ""
	}
	return name
}
