package effects

import (
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// suffixes are what compressors append to a file's name, by program; those of programs that only
// decompress are what they take away.
var suffixes = map[string]string{
	"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4",
	"gunzip": ".gz", "bunzip2": ".bz2", "unxz": ".xz", "unzstd": ".zst",
}

// compresses judges programs that put a compressed file beside each operand, or its content if they
// decompress, and remove the operand. zstd and lz4 keep it, as -k asks of the others.
func (f *finder) compresses(c *shell.Call) {
	words := shell.Operands(c.Args, "-o -S -T --suffix --threads")
	f.readWords(c, words)
	if c.Flag("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list", "--version", "-h", "--help") || len(words) == 0 && len(c.Via) == 0 {
		f.sees++
		return
	}
	f.acts++
	suffix := suffixes[c.Name]
	extracts := strings.HasPrefix(c.Name, "un") || strings.HasPrefix(c.Name, "gun") || strings.HasPrefix(c.Name, "bun") || c.Flag("-d", "--decompress", "--uncompress")
	keeps := c.Flag("-k", "--keep") || (strings.Contains(c.Name, "zstd") || c.Name == "lz4") && !c.Flag("--rm")
	if w, ok := c.FlagValue("-o"); ok {
		f.path(w, c.Dir, Write, false)
		return
	}
	for _, w := range words {
		made := w
		if extracts {
			made.Value = strings.TrimSuffix(w.Value, suffix)
		} else {
			made.Value += suffix
		}
		if made.Value != w.Value {
			f.path(made, c.Dir, Write, false)
		}
		if !keeps {
			f.path(w, c.Dir, Remove, false)
		}
	}
}

// archives judges ar: its first operand is what to do, its second the library.
func (f *finder) archives(c *shell.Call) {
	words := shell.Operands(c.Args, "--plugin --target --output")
	if len(c.Args) > 0 && strings.HasPrefix(c.Args[0].Value, "-") {
		words = append([]shell.Word{c.Args[0]}, words...)
	}
	if len(words) < 2 {
		f.sees++
		return
	}
	operation, library, members := strings.TrimLeft(words[0].Value, "-"), words[1], words[2:]
	switch {
	case strings.ContainsAny(operation, "rq"):
		f.acts++
		f.readWords(c, members)
		f.path(library, c.Dir, Update, false)
	case strings.ContainsAny(operation, "dms"):
		f.acts++
		f.path(library, c.Dir, Update, false)
	case strings.Contains(operation, "x"):
		f.acts++
		f.path(library, c.Dir, Read, false)
		if len(members) == 0 {
			f.opaque(c.Dir)
		}
		for _, w := range members {
			f.path(w, c.Dir, Write, false)
		}
	default:
		f.sees++
		f.path(library, c.Dir, Read, false)
	}
}
