package extract

import (
	"strings"
	"testing"
)

// BenchmarkExtract reads each language's testdata once.
func BenchmarkExtract(b *testing.B) {
	files, size := map[string]map[string][]byte{}, map[string]int64{}
	for _, src := range sources(b) {
		name := strings.TrimSuffix(base(src), ".src")
		l, _ := LanguageOf(name)
		if files[l.Name] == nil {
			files[l.Name] = map[string][]byte{}
		}
		files[l.Name][name] = readFile(b, src)
		size[l.Name] += int64(len(files[l.Name][name]))
	}
	for _, l := range languages {
		b.Run(l.Name, func(b *testing.B) {
			b.SetBytes(size[l.Name])
			for b.Loop() {
				for name, content := range files[l.Name] {
					factsOf(l, name, content)
				}
			}
		})
	}
}
