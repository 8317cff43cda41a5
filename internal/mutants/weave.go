package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// selected is the name of the variable, in every package with faults, that holds the number of the
// active fault; 0 means none. The file with that number is read at the start of a program, so that
// the fault is also active in processes started by a test.
const selected = "recountFault"

// selector returns the source of the file that declares selected.
func selector(pkg, file string) string {
	return fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

var %s = func() int {
	b, _ := os.ReadFile(%q)
	n, _ := strconv.Atoi(string(b))
	return n
}()
`, pkg, selected, file)
}

// numbered is a fault with the number that selects it.
type numbered struct {
	fault
	number int
}

// woven is a file with its faults, each of which is inactive until it is selected.
type woven struct {
	pkg    string // the name of its package
	source string
	copies []span
}

// span is the range of lines of a fault's code in a woven file.
type span struct{ number, from, to int }

// errNoFunction means that a fault is outside all functions and cannot be selected.
var errNoFunction = errors.New("it stands in no function")

// weave inserts several faults into one file. A function with a fault occurs twice: unchanged, and
// with the fault under another name at the end of the file. The former begins with a call of the
// latter if the fault is selected.
func weave(source string, faults []numbered) (woven, error) {
	sound, err := parse(source)
	if err != nil {
		return woven{}, err
	}
	w := woven{pkg: sound.file.Name.Name}
	edits := map[int]string{} // insertions by offset
	var copies []numbered
	var texts []string
	for _, f := range faults {
		faulty, err := f.apply(source)
		if err != nil {
			return woven{}, err
		}
		at := commonPrefix(source, faulty)
		i := slices.IndexFunc(sound.funcs, func(d *ast.FuncDecl) bool {
			return d.Body != nil && sound.offset(d.Body.Lbrace) < at && at <= sound.offset(d.Body.Rbrace)
		})
		if i < 0 {
			return woven{}, fmt.Errorf("%s: %q: %w", f.at, f.name, errNoFunction)
		}
		changed, err := parse(faulty)
		if err != nil {
			return woven{}, fmt.Errorf("%s: %q: %w", f.at, f.name, err)
		}
		if len(changed.funcs) != len(sound.funcs) {
			return woven{}, fmt.Errorf("%s: %q: %w", f.at, f.name, errNoFunction)
		}
		name := fmt.Sprintf("%sRecountFault%d", sound.funcs[i].Name.Name, f.number)
		texts = append(texts, changed.renamed(changed.funcs[i], name))
		copies = append(copies, f)
		body := sound.offset(sound.funcs[i].Body.Lbrace) + 1
		edits[body] += fmt.Sprintf(" if %s == %d { %s };", selected, f.number, call(sound.funcs[i], name))
		for offset, text := range sound.names(sound.funcs[i]) {
			edits[offset] = text
		}
	}
	var b strings.Builder
	from := 0
	for _, offset := range slices.Sorted(maps.Keys(edits)) {
		b.WriteString(source[from:offset])
		b.WriteString(edits[offset])
		if from = offset; strings.HasPrefix(edits[offset], "_") {
			from++ // a blank name, which is replaced
		}
	}
	b.WriteString(source[from:])
	for i, text := range texts {
		b.WriteString("\n")
		line := strings.Count(b.String(), "\n") + 1
		b.WriteString(text + "\n")
		w.copies = append(w.copies, span{copies[i].number, line, line + strings.Count(text, "\n")})
	}
	w.source = b.String()
	return w, nil
}

// lineAt returns the number of the fault whose code contains a line, 0 if there is none.
func (w woven) lineAt(line int) int {
	for _, s := range w.copies {
		if s.from <= line && line <= s.to {
			return s.number
		}
	}
	return 0
}

// parsed is a file with its functions in order.
type parsed struct {
	source string
	set    *token.FileSet
	file   *ast.File
	funcs  []*ast.FuncDecl
}

func parse(source string) (parsed, error) {
	p := parsed{source: source, set: token.NewFileSet()}
	var err error
	if p.file, err = parser.ParseFile(p.set, "", source, parser.SkipObjectResolution); err != nil {
		return p, err
	}
	for _, d := range p.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			p.funcs = append(p.funcs, f)
		}
	}
	return p, nil
}

func (p parsed) offset(pos token.Pos) int { return p.set.Position(pos).Offset }

// fields returns the receiver and the parameters of a function.
func fields(d *ast.FuncDecl) []*ast.Field {
	var all []*ast.Field
	if d.Recv != nil {
		all = append(all, d.Recv.List...)
	}
	return append(all, d.Type.Params.List...)
}

// parameter returns the name for the n-th parameter that has none, or a blank one.
func parameter(n int) string { return "_recount" + strconv.Itoa(n) }

// names names every parameter of a function; it returns the insertions by offset.
func (p parsed) names(d *ast.FuncDecl) map[int]string {
	edits := map[int]string{}
	n := 0
	for _, f := range fields(d) {
		if len(f.Names) == 0 {
			edits[p.offset(f.Type.Pos())] = " " + parameter(n) + " "
			n++
		}
		for _, id := range f.Names {
			if id.Name == "_" {
				edits[p.offset(id.Pos())] = parameter(n)
			}
			n++
		}
	}
	return edits
}

// renamed returns the source of a function under another name.
func (p parsed) renamed(d *ast.FuncDecl, name string) string {
	from, to := p.offset(d.Name.Pos()), p.offset(d.Name.End())
	return p.source[p.offset(d.Pos()):from] + name + p.source[to:p.offset(d.End())]
}

// call returns the source that calls a function's other form with the receiver and parameters, and
// returns its result.
func call(d *ast.FuncDecl, name string) string {
	var b bytes.Buffer
	var args []string
	n := 0
	for i, f := range fields(d) {
		names := []string{}
		for _, id := range f.Names {
			if id.Name == "_" {
				names = append(names, parameter(n))
			} else {
				names = append(names, id.Name)
			}
			n++
		}
		if len(f.Names) == 0 {
			names = append(names, parameter(n))
			n++
		}
		if d.Recv != nil && i == 0 {
			b.WriteString(names[0] + ".")
			continue
		}
		if _, variadic := f.Type.(*ast.Ellipsis); variadic {
			names[len(names)-1] += "..."
		}
		args = append(args, names...)
	}
	b.WriteString(name)
	if t := d.Type.TypeParams; t != nil {
		var types []string
		for _, f := range t.List {
			for _, id := range f.Names {
				types = append(types, id.Name)
			}
		}
		b.WriteString("[" + strings.Join(types, ", ") + "]")
	}
	b.WriteString("(" + strings.Join(args, ", ") + ")")
	if d.Type.Results == nil {
		return b.String() + "; return"
	}
	return "return " + b.String()
}

// commonPrefix returns the index at which two texts begin to differ.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
