package effects

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// byName judges a call by the rules of its program.
func (f *finder) byName(c *shell.Call) {
	switch c.Name {
	case "cd", "pushd", "popd", "chdir", "z":
		f.goesTo(c)
	case "git":
		f.git(c)
	case "mkdir":
		f.directories(c, "-m --mode -Z")
	case "rmdir", "unlink":
		f.remove(c, withParents(c, shell.Operands(c.Args, "")), false)
	case "rm", "trash", "shred":
		f.remove(c, shell.Operands(c.Args, "-n -s"), c.Flag("-r", "-R", "--recursive"))
	case "touch", "truncate":
		f.writes(c, shell.Operands(c.Args, "-d -t -r -s --date --reference --size"), Update)
	case "cp", "mv", "install", "ln", "rsync":
		f.copies(c)
	case "tee", "sponge":
		f.tee(c)
	case "cmake":
		f.cmake(c)
	case "dpkg-deb":
		f.debianPackage(c)
	case "ldconfig":
		f.libraries(c)
	case "tar", "bsdtar", "jar":
		f.tar(c)
	case "unzip":
		f.unzip(c)
	case "zip":
		f.zip(c)
	case "split":
		f.splits(c, "x", "-l -b -n -a -C -t --lines --bytes --number --suffix-length --line-bytes --separator --additional-suffix --filter")
	case "csplit":
		f.splits(c, "xx", "-f -b -n --prefix --suffix-format --digits")
	case "patch":
		f.patch(c)
	case "sed", "gsed":
		f.sed(c)
	case "perl":
		f.perl(c)
	case "chmod", "chown", "chgrp", "setfacl":
		f.modes(c)
	case "sort":
		f.sees++
		f.output(c)
		f.readWords(c, shell.Operands(c.Args, "-k -t -o -S -T --key --output --field-separator --parallel"))
	case "iconv":
		if !f.output(c) {
			f.sees++
		}
		f.readWords(c, shell.Operands(c.Args, "-f -t -o --from-code --to-code --output"))
	case "uniq", "xxd":
		f.convertsTo(c)
	case "msgfmt", "msgunfmt", "msgmerge", "msgcat", "msggrep", "msgattrib", "msgcmp", "msgcomm", "msguniq", "msgfilter", "msgconv", "msgen", "msginit", "xgettext":
		f.translates(c)
	case "yq", "xmllint":
		f.editsData(c)
	case "strip", "mkfifo", "objcopy", "convert", "magick", "ffmpeg":
		f.lastOf(c)
	case "cpio":
		f.cpio(c)
	case "find", "gfind":
		f.finds(c)
	case "awk", "gawk", "mawk", "nawk":
		f.awk(c)
	case "curl":
		f.fetches(c)
	case "wget":
		f.wget(c)
	case "kill", "pkill", "killall":
		f.signals(c)
	case "sqlite3":
		f.sqlite(c)
	case "venv", "virtualenv":
		f.environment(c)
	case "gofmt", "gofumpt":
		f.gofmt(c)
	case "tic", "infocmp":
		f.terminals(c)
	case "crudini":
		f.setsKeys(c)
	case "openssl", "gpg":
		f.outputs(c)
	case "docker", "podman", "docker-compose":
		f.container(c)
	case "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4":
		f.compresses(c)
	case "ar":
		f.archives(c)
	case "sleep", "wait":
	case "dd":
		f.dd(c)
	default:
		f.other(c, shell.Operands(c.Args, ""))
	}
}

// goesTo adds the directory that a shell goes to.
func (f *finder) goesTo(c *shell.Call) {
	f.goes++
	if words := shell.Operands(c.Args, ""); len(words) > 0 {
		f.path(words[0], f.dirBefore(), Read, false)
	}
}

// dirBefore is the directory in which a cd began.
func (f *finder) dirBefore() string {
	if f.at > 0 {
		if dir := f.Line.Calls[f.at].Dir; dir != "" {
			return dir
		}
	}
	return f.c.Cwd
}

// writes adds files that words name.
func (f *finder) writes(c *shell.Call, words []shell.Word, a Access) {
	f.acts++
	for _, w := range words {
		f.path(w, c.Dir, a, false)
	}
}

// output adds the file of -o, if there is one.
func (f *finder) output(c *shell.Call) bool {
	w, ok := c.FlagValue("-o", "--output")
	if ok {
		f.writes(c, []shell.Word{w}, Write)
	}
	return ok
}

// directories adds the directories that are made.
func (f *finder) directories(c *shell.Call, valued string) {
	f.acts++
	for _, w := range shell.Operands(c.Args, valued) {
		name, t, ok := f.named(w, c.Dir)
		if !ok {
			f.opaque(c.Dir)
			continue
		}
		t.Kind, t.Name, t.Access = Directory, name, Write
		f.add(t)
	}
}

func (f *finder) tee(c *shell.Call) {
	access := Write
	if c.Flag("-a", "--append") {
		access = Update
	}
	f.writes(c, shell.Operands(c.Args, ""), access)
}

// libraries adds the directories in which ldconfig makes links.
func (f *finder) libraries(c *shell.Call) {
	f.acts++
	dirs := shell.Operands(c.Args, "-C -f -r")
	if !c.Flag("-n") || len(dirs) == 0 {
		f.opaque(c.Dir)
	}
	for _, w := range dirs {
		f.path(w, c.Dir, Update, true)
	}
}

func (f *finder) patch(c *shell.Call) {
	f.acts++
	if w, ok := c.FlagValue("-d", "--directory"); ok {
		f.path(w, c.Dir, Update, true)
	} else if ws := shell.Operands(c.Args, "-p -i -o -r --strip --input --output"); len(ws) > 0 {
		f.path(ws[0], c.Dir, Update, false)
		f.readWords(c, ws[1:])
	} else {
		f.path(shell.Word{Value: "."}, c.Dir, Update, true)
	}
	if w, ok := c.FlagValue("-i", "--input"); ok {
		f.path(w, c.Dir, Read, false)
	}
}

// modes adds the files whose mode or owner changes.
func (f *finder) modes(c *shell.Call) {
	f.acts++
	words, tree := shell.Operands(c.Args, ""), c.Flag("-R", "--recursive")
	if len(words) < 2 {
		return
	}
	for _, w := range words[1:] {
		f.path(w, c.Dir, Update, tree)
		for _, w := range f.items(w) {
			name, t, ok := f.named(w, c.Dir)
			if !ok || t.Partial {
				continue
			}
			t.Kind, t.Name, t.Access = Mode, name, Write
			if c.Name == "chmod" && !t.Glob && !tree {
				t.Value = f.expand(words[0]).Value
			}
			f.add(t)
		}
	}
}

// convertsTo judges a program whose second operand is what it writes.
func (f *finder) convertsTo(c *shell.Call) {
	ws := shell.Operands(c.Args, "-f -s -w -l -c -g -o")
	f.readWords(c, ws[:min(1, len(ws))])
	if len(ws) < 2 {
		f.sees++
		return
	}
	f.writes(c, ws[1:2], Write)
}

// splits adds the pieces that split and csplit make of their first operand.
func (f *finder) splits(c *shell.Call, prefix, valued string) {
	f.acts++
	ws := shell.Operands(c.Args, valued)
	f.readWords(c, ws[:min(1, len(ws))])
	to := shell.Word{Value: prefix}
	if w, ok := c.FlagValue("-f", "--prefix"); ok && c.Name == "csplit" {
		to = w
	} else if c.Name == "split" && len(ws) > 1 {
		to = ws[1]
	}
	name, ok := shell.Resolve(f.expand(to), c.Dir, f.c.Home)
	if _, filtered := c.FlagValue("--filter"); !ok || filtered {
		f.opaque(c.Dir)
		return
	}
	if strings.HasSuffix(to.Value, "/") {
		name += "/"
	}
	f.add(Thing{Kind: Path, Name: name + "*", Access: Write, Glob: true, Sure: 0.9})
}

func (f *finder) gofmt(c *shell.Call) {
	f.acts++ // without -w it was seen to look only
	for _, w := range shell.Operands(c.Args, "-r -cpuprofile -lang -modpath") {
		f.path(w, c.Dir, Update, !strings.HasSuffix(w.Value, ".go"))
	}
}

func (f *finder) dd(c *shell.Call) {
	f.acts++
	access := Write
	if slices.ContainsFunc(c.Args, func(w shell.Word) bool {
		return strings.HasPrefix(w.Value, "seek=") || strings.HasPrefix(w.Value, "conv=") && strings.Contains(w.Value, "notrunc") || strings.HasPrefix(w.Value, "oflag=") && strings.Contains(w.Value, "append")
	}) {
		access = Update
	}
	for _, w := range c.Args {
		key, value, ok := strings.Cut(w.Value, "=")
		file := shell.Word{Value: value, Dynamic: w.Dynamic, Glob: w.Glob, Quoted: w.Quoted}
		switch {
		case ok && key == "of":
			f.path(file, c.Dir, access, false)
		case ok && key == "if":
			f.path(file, c.Dir, Read, false)
		}
	}
}
