package plan

import (
	"fmt"
	"testing"
)

// BenchmarkMake plans 1,000 commands of the usual kinds.
func BenchmarkMake(b *testing.B) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, [...]string{
			fmt.Sprintf("mkdir -p src/m%d", i/8), fmt.Sprintf("echo 'int f%d;' > src/m%d/a.c", i, i/8), fmt.Sprintf("cat src/m%d/a.c", i/8),
			fmt.Sprintf("cc -c src/m%d/a.c -o src/m%d/a.o", i/8, i/8), "git add -A", fmt.Sprintf("git commit -m 'Module %d'", i), "make", fmt.Sprintf("sed -i s/f/g/ src/m%d/a.c", i/8),
		}[i%8])
	}
	n := narrative(lines...)
	n.Runs = n.Commands
	r := Request{All: true, Map: []string{"/home/ann=/home/bob"}}
	for b.Loop() {
		if _, err := Make(n, r); err != nil {
			b.Fatal(err)
		}
	}
}
