//go:build linux || darwin

package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkLook looks through 1,000 and 20,000 files, of which none changed.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{1000, 19_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				sub := filepath.Join(dir, fmt.Sprint(i/100))
				if i%100 == 0 {
					if err := os.Mkdir(sub, 0o755); err != nil {
						b.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(i)), []byte("x"), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			k := Looker{Remember: true}
			for b.Loop() {
				if c := k.Between(time.Now().Add(time.Hour), time.Now(), dir, "", ""); c == nil {
					b.Fatal("nothing was looked at")
				}
			}
		})
	}
}
