package languages

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/languages/extract"
)

// BenchmarkExtract reads the test data of each language once.
func BenchmarkExtract(b *testing.B) {
	read, size := map[string]map[string][]byte{}, map[string]int64{}
	for _, src := range sources(b) {
		name := strings.TrimSuffix(extract.Base(src), ".src")
		l, _ := OfPath(name)
		if read[l.Name] == nil {
			read[l.Name] = map[string][]byte{}
		}
		read[l.Name][name] = readFile(b, src)
		size[l.Name] += int64(len(read[l.Name][name]))
	}
	for _, l := range files {
		b.Run(l.Name, func(b *testing.B) {
			b.SetBytes(size[l.Name])
			for b.Loop() {
				for name, content := range read[l.Name] {
					factsOf(l, name, content)
				}
			}
		})
	}
}
