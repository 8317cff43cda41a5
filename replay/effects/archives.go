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

// tar judges what an archive is made of or unpacked to.
func (f *finder) tar(c *shell.Call) {
	mode, archive, dir := "", shell.Word{}, c.Dir
	prints := c.Flag("--to-stdout")
	var files []shell.Word
	for i := 0; i < len(c.Args); i++ {
		v := c.Args[i].Value
		next := func() shell.Word {
			if i+1 < len(c.Args) {
				i++
				return c.Args[i]
			}
			return shell.Word{}
		}
		switch {
		case strings.HasPrefix(v, "--file="):
			archive = shell.Word{Value: v[7:], Dynamic: c.Args[i].Dynamic}
		case v == "--file":
			archive = next()
		case strings.HasPrefix(v, "--directory="):
			dir, _ = shell.Resolve(shell.Word{Value: v[12:]}, c.Dir, f.c.Home)
		case v == "-C", v == "--directory":
			dir, _ = shell.Resolve(f.expand(next()), dir, f.c.Home)
		case v == "--extract", v == "--get":
			mode = "x"
		case v == "--create":
			mode = "c"
		case v == "--list":
			mode = "t"
		case v == "--append", v == "--update", v == "--delete", v == "--concatenate", v == "--catenate":
			mode = "r"
		case strings.HasPrefix(v, "--"):
		case i == 0 && !strings.HasPrefix(v, "-"), len(v) > 1 && v[0] == '-':
			for _, letter := range strings.TrimPrefix(v, "-") {
				switch letter {
				case 'x', 'c', 't', 'r', 'u':
					mode = string(letter)
				case 'O':
					prints = true
				case 'A':
					mode = "r"
				case 'f':
					archive = next()
				case 'C':
					dir, _ = shell.Resolve(f.expand(next()), dir, f.c.Home)
				case 'X', 'T', 'b':
					next()
				}
			}
		default:
			files = append(files, c.Args[i])
		}
	}
	here := *c
	here.Dir = dir
	if mode == "x" && prints {
		mode = "t"
	}
	switch mode {
	case "x":
		f.acts++
		if archive.Value != "" && archive.Value != "-" {
			f.path(archive, c.Dir, Read, false)
		}
		f.path(shell.Word{Value: "."}, dir, Update, true)
	case "t":
		f.sees++
		if archive.Value != "" && archive.Value != "-" {
			f.path(archive, c.Dir, Read, false)
		}
	default:
		if archive.Value != "" && archive.Value != "-" {
			f.acts++
			access := Write
			if mode == "r" || mode == "u" {
				access = Update
			}
			f.path(archive, c.Dir, access, false)
		}
		f.readTrees(&here, files)
		f.notHere(c, dir, files)
	}
}

func (f *finder) unzip(c *shell.Call) {
	f.acts++
	f.readWords(c, shell.Operands(c.Args, "-d -x"))
	dest := shell.Word{Value: "."}
	if w, ok := c.FlagValue("-d"); ok {
		dest = w
	}
	f.path(dest, c.Dir, Update, true)
}

func (f *finder) zip(c *shell.Call) {
	f.acts++
	if words := shell.Operands(c.Args, ""); len(words) > 0 {
		f.path(words[0], c.Dir, Update, false)
		f.readTrees(c, words[1:])
	}
}

func (f *finder) cpio(c *shell.Call) {
	f.acts++
	if ws := shell.Operands(c.Args, "-D -F -E"); c.Flag("-p", "--pass-through") && len(ws) > 0 {
		f.path(ws[len(ws)-1], c.Dir, Update, true)
	} else if !c.Flag("-o", "--create", "-t", "--list") {
		f.opaque(c.Dir)
	}
}
