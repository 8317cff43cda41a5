package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeave runs a program with faults woven into functions of every form: none is active until it
// is selected, and then only that one.
func TestWeave(t *testing.T) {
	const source = `package main

import "fmt"

type set[T comparable] struct{ m map[T]int }

func (s *set[T]) add(v T, n int) (sum int) {
	s.m[v] += n
	return s.m[v]
}

type quiet struct{}

func (quiet) say(_ int, words ...string) { fmt.Println("say", len(words)) }

func largest[T int | string](all ...T) T {
	var l T
	for _, v := range all {
		l = max(l, v)
	}
	return l
}

func unnamed(int, string) error {
	return nil
}

func main() {
	s := set[string]{map[string]int{}}
	s.add("a", 1)
	fmt.Println("sum", s.add("a", 2))
	quiet{}.say(1, "x", "y")
	fmt.Println("largest", largest(1, 3, 2))
	fmt.Println("unnamed", unnamed(1, ""))
}
`
	const sound = "sum 3\nsay 2\nlargest 3\nunnamed <nil>\n"
	faults := []struct {
		fault
		from, to string // the output of another line
	}{
		{fault{in: "add", old: []string{"s.m[v] += n"}, new: []string{"s.m[v] = n"}}, "sum 3", "sum 2"},
		{fault{in: "add", old: []string{"return s.m[v]"}, new: []string{"return -1"}}, "sum 3", "sum -1"},
		{fault{old: []string{`func (quiet) say(_ int, words ...string) { fmt.Println("say", len(words)) }`}, new: []string{`func (quiet) say(_ int, words ...string) { fmt.Println("say") }`}}, "say 2", "say"},
		{fault{in: "largest", old: []string{"l = max(l, v)"}, new: []string{"l = v"}}, "largest 3", "largest 2"},
		{fault{in: "unnamed", old: []string{"return nil"}, new: []string{`return fmt.Errorf("wrong")`}}, "unnamed <nil>", "unnamed wrong"},
	}
	var all []numbered
	for i, f := range faults {
		all = append(all, numbered{f.fault, i + 1})
	}
	w, err := weave(source, all)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	choice, binary := filepath.Join(dir, "selected"), filepath.Join(dir, "program")
	for name, content := range map[string]string{"go.mod": "module example.org/woven\n\ngo 1.24\n", "main.go": w.source, "fault.go": selector(w.pkg, choice)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, w.source)
	}
	says := func(number string) string {
		t.Helper()
		if err := os.WriteFile(choice, []byte(number), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(binary).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if got := says("0"); got != sound {
		t.Errorf("without a fault: %s", got)
	}
	for i, f := range faults {
		if got, want := says(string(rune('1'+i))), strings.Replace(sound, f.from, f.to, 1); got != want {
			t.Errorf("fault %d: got\n%swant\n%s", i+1, got, want)
		}
	}
	lines := strings.Split(w.source, "\n")
	for n, line := range lines {
		if strings.Contains(line, "s.m[v] = n") && w.lineAt(n+1) != 1 || strings.Contains(line, "func main") && w.lineAt(n+1) != 0 {
			t.Errorf("line %d is said to be of fault %d: %s", n+1, w.lineAt(n+1), line)
		}
	}
}

func TestWeaveRefuses(t *testing.T) {
	const source = "package p\n\nconst most = 8\n\nfunc f() int {\n\treturn most\n}\n"
	if _, err := weave(source, []numbered{{fault{old: []string{"const most = 8"}, new: []string{"const most = 1"}}, 1}}); !errors.Is(err, errNoFunction) {
		t.Errorf("of a constant: %v", err)
	}
	if _, err := weave(source, []numbered{{fault{in: "f", old: []string{"return most"}, new: []string{"return ("}}, 1}}); err == nil || errors.Is(err, errNoFunction) {
		t.Errorf("of what cannot be parsed: %v", err)
	}
}
