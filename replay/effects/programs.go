package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// finds judges find: it looks, unless its expression acts.
func (f *finder) finds(c *shell.Call) {
	acts := c.Wraps
	var roots []shell.Word
	begun := false
	for _, w := range c.Args {
		v := w.Value
		switch {
		case v == "-delete":
			f.acts++
			acts = true
			for _, r := range roots {
				f.path(r, c.Dir, Update, true)
			}
		case strings.HasPrefix(v, "-") || v == "(" || v == "!":
			begun = true
		case !begun:
			roots = append(roots, w)
		}
	}
	if !acts {
		f.sees++
	}
	if len(roots) == 0 {
		roots = []shell.Word{{Value: "."}}
	}
	f.readTrees(c, roots)
}

// fed returns what a call reads from a here-document, or from a file whose content was written down.
func (f *finder) fed(c *shell.Call) (string, bool) {
	if c.Document != nil {
		return *c.Document, true
	}
	for _, rd := range f.Line.Redirects {
		if rd.Op != "<" || rd.Before != f.at || rd.Maybe {
			continue
		}
		if name, t, ok := f.named(rd.Target, rd.Dir); ok && !t.Glob && !t.Partial {
			return f.content(name)
		}
	}
	return "", false
}

// outputs judges a program of keys, which writes to the value of a flag and else looks.
func (f *finder) outputs(c *shell.Call) {
	written := false
	for i, a := range c.Args {
		name, value, joined := strings.Cut(a.Value, "=")
		if !keyOutputs[name] || !joined && i+1 >= len(c.Args) {
			continue
		}
		w := shell.Word{Value: value, Dynamic: a.Dynamic}
		if !joined {
			w = c.Args[i+1]
		}
		if written = true; w.Value != "-" {
			f.acts++
			f.path(w, c.Dir, Write, false)
		}
	}
	if !written {
		f.sees++
	}
	for _, name := range []string{"-in", "-inkey", "-CA", "-CAkey", "-key", "-config", "-signkey"} {
		if w, ok := c.FlagValue(name); ok {
			f.path(w, c.Dir, Read, false)
		}
	}
	f.reads0(c)
}

// editsData judges yq and xmllint: they print, unless they are told to write.
func (f *finder) editsData(c *shell.Call) {
	ws := shell.Operands(c.Args, "-o --output -I --indent -p --schema --xpath --encode --dtdvalid")
	w, ok := c.FlagValue("-o", "--output")
	switch {
	case c.Name == "yq" && c.Flag("-i", "--inplace", "--in-place"):
		f.acts++
		for _, w := range ws[min(1, len(ws)):] {
			f.path(w, c.Dir, Update, false)
		}
		return
	case c.Name == "xmllint" && ok:
		f.acts++
		f.path(w, c.Dir, Write, false)
	default:
		f.sees++
	}
	f.readWords(c, ws)
}

// translates judges the programs of gettext: they write what -o names, or print.
func (f *finder) translates(c *shell.Call) {
	ws := shell.Operands(c.Args, "-o --output-file -l --locale -D --directory -d --default-domain -L --language -k --keyword -e --regexp -f --file -w --width -i --input --package-name --package-version --msgid-bugs-address --copyright-holder")
	switch w, ok := c.FlagValue("-o", "--output-file"); {
	case ok && w.Value != "-" && !shell.IsDevice(w.Value):
		f.acts++
		f.path(w, c.Dir, Write, false)
	case (c.Name == "msgmerge" || c.Name == "msgattrib") && c.Flag("-U", "--update") && len(ws) > 0:
		f.acts++
		f.path(ws[0], c.Dir, Update, false)
	case ok || c.Name != "msgfmt" && c.Name != "msginit" && c.Name != "xgettext":
		f.sees++
	default:
		f.acts++
		f.opaque(c.Dir) // it names its file by the domain
	}
	for _, name := range []string{"-i", "--input"} {
		if w, ok := c.FlagValue(name); ok {
			f.path(w, c.Dir, Read, false)
		}
	}
	f.readWords(c, ws)
}

// lastOf judges programs that write their last operand, or change the one that they have.
func (f *finder) lastOf(c *shell.Call) {
	flags := "-o -K -N -R -j -O -I -m --mode -i -vf -c:v -c:a -r -s -t -ss -resize -quality -crop"
	if c.Name == "objcopy" {
		flags = objcopyFlags
	}
	ws := shell.Operands(c.Args, flags)
	f.acts++
	if w, ok := c.FlagValue("-o"); ok && c.Name == "strip" {
		f.readWords(c, ws)
		f.path(w, c.Dir, Write, false)
		return
	}
	switch {
	case len(ws) == 0:
		f.opaque(c.Dir)
	case c.Name == "mkfifo":
		for _, w := range ws {
			f.path(w, c.Dir, Write, false)
		}
	case c.Name == "strip", c.Name == "objcopy" && len(ws) == 1:
		for _, w := range ws {
			f.path(w, c.Dir, Update, false)
		}
	default:
		f.readWords(c, ws[:len(ws)-1])
		f.path(ws[len(ws)-1], c.Dir, Write, false)
		if w, ok := c.FlagValue("-i"); ok && c.Name == "ffmpeg" {
			f.path(w, c.Dir, Read, false)
		}
	}
}

// cmake adds the directory that a call of cmake configures, builds or installs.
func (f *finder) cmake(c *shell.Call) {
	f.acts++
	f.Built, f.Known = true, false
	dir := func(flags ...string) (string, bool) {
		w, ok := c.FlagValue(flags...)
		if !ok {
			return "", false
		}
		name, _, ok := f.named(w, c.Dir)
		return name, ok
	}
	if build, ok := dir("--build"); ok {
		f.reads(c.Dir)
		if c.Flag("--preset") {
			build = c.Dir // the preset tells
		}
		f.opaque(build)
		return
	}
	if build, ok := dir("--install"); ok {
		f.reads(build)
		if given, ok := staging(c); ok {
			f.path(given, c.Dir, Update, true)
		} else if prefix, ok := dir("--prefix"); ok {
			f.add(Thing{Kind: Path, Name: prefix, Access: Update, Tree: true, Sure: 0.8})
		} else {
			f.opaque(c.Dir)
		}
		return
	}
	build, ok := dir("-B")
	if !ok || c.Flag("-P", "-E") {
		f.destination(c)
		return
	}
	f.reads(c.Dir)
	if source, ok := dir("-S"); ok {
		f.reads(source)
	}
	f.add(Thing{Kind: Directory, Name: build, Access: Write})
	f.opaque(build)
}

// debianPackage judges dpkg-deb: it makes a package of a directory, or unpacks one.
func (f *finder) debianPackage(c *shell.Call) {
	f.acts++
	ws := shell.Operands(c.Args, "-Z -z -S --uniform-compression")
	switch {
	case c.Flag("-b", "--build") && len(ws) > 0:
		f.path(ws[0], c.Dir, Read, true)
		made := ws[0]
		made.Value = strings.TrimSuffix(made.Value, "/") + ".deb"
		if len(ws) > 1 {
			made = ws[1]
		}
		if len(ws) > 1 && !strings.HasSuffix(made.Value, ".deb") {
			f.opaque(c.Dir) // a directory, or a name of its own
			return
		}
		f.path(made, c.Dir, Write, false)
	case c.Flag("-x", "-X", "-R", "--extract", "--vextract", "--raw-extract") && len(ws) > 1:
		f.path(ws[0], c.Dir, Read, false)
		f.path(ws[1], c.Dir, Update, true)
	default:
		f.opaque(c.Dir)
	}
}

// compile adds the output of a compiler that has no -o, and the directories that it reads.
func (f *finder) compile(c *shell.Call) {
	for _, a := range c.Args {
		for _, flag := range []string{"-I", "-L", "-isystem"} {
			if v, ok := strings.CutPrefix(a.Value, flag); ok && v != "" {
				if dir, _, ok := f.named(shell.Word{Value: v, Dynamic: a.Dynamic}, c.Dir); ok {
					f.reads(dir)
				}
			}
		}
	}
	ws := shell.Operands(c.Args, "-o -I -L -l -D -x -d -cp -isystem -include -MF -MT")
	f.readWords(c, ws)
	if w, ok := c.FlagValue("-o"); ok {
		f.path(w, c.Dir, Write, false)
		return
	}
	if d, ok := c.FlagValue("-d"); ok {
		f.path(d, c.Dir, Update, true)
		return
	}
	switch {
	case c.Flag("-c"), c.Name == "javac", c.Name == "protoc", c.Name == "rustc":
		f.opaque(c.Dir)
	case c.Flag("-E", "-fsyntax-only", "-M", "-MM", "--version"):
		f.sees++
		f.acts--
	default:
		f.path(shell.Word{Value: "a.out"}, c.Dir, Write, false)
	}
}

// goBuilds judges go build that is told what to write, and reports whether this is one.
func (f *finder) goBuilds(c *shell.Call) bool {
	if c.Sub() != "build" || c.Flag("-C") {
		return false
	}
	w, ok := c.FlagValue("-o")
	if !ok {
		return false
	}
	f.Known, f.Built = false, true
	f.acts++
	f.reads(c.Dir)
	packages := shell.Operands(c.After(), "-o -ldflags -gcflags -asmflags -tags -mod -modfile -p -pkgdir -overlay -pgo -toolexec -coverpkg -covermode -buildmode -compiler -gccgoflags -installsuffix")
	into := strings.HasSuffix(w.Value, "/") || intoNames[path.Base(w.Value)] || len(packages) > 1 || len(packages) == 1 && strings.HasSuffix(packages[0].Value, "...")
	access := Write
	if into {
		access = Update
	}
	f.path(w, c.Dir, access, into)
	return true
}

// intoNames are names that directories have.
var intoNames = words(". .. bin dist build out target release")

// ran adds the file of a program that is called by its path.
func (f *finder) ran(c *shell.Call) {
	if !strings.Contains(c.Head.Value, "/") {
		return
	}
	for _, head := range f.items(c.Head) {
		if p, ok := shell.Resolve(f.expand(head), c.Dir, f.c.Home); ok {
			f.add(Thing{Kind: Path, Name: p, Access: Read})
		}
	}
}

// destination judges a program of unknown effects. One that installs to a directory it is told
// writes there and nowhere else.
func (f *finder) destination(c *shell.Call) {
	f.ran(c)
	f.readsOwn(c)
	dir := c.Dir
	if w, ok := c.FlagValue("-C"); ok && (c.Name == "make" || c.Name == "ninja" || c.Name == "npm" || c.Name == "go" || c.Name == "cargo") {
		if d, ok := shell.Resolve(f.expand(w), c.Dir, f.c.Home); ok {
			dir = d
		}
	}
	f.reads(dir)
	var to []shell.Word
	given, staged := staging(c) // then a prefix is a path below that
	staged = staged || slices.ContainsFunc(c.Args, func(w shell.Word) bool { return strings.HasPrefix(w.Value, "DESTDIR=") && w.Value != "DESTDIR=" })
	installs := c.Sub() == "install" || c.Sub() == "i" || c.Sub() == "--install" || c.Name == "dpkg" || c.Name == "rpm"
	if given.Value != "" {
		to = append(to, given)
	}
	for i, a := range c.Args {
		installs = installs || a.Value == "install" || strings.HasSuffix(a.Value, "_install") || a.Value == "--install"
		name, value, ok := strings.Cut(a.Value, "=")
		switch {
		case ok && staged && strings.HasSuffix(strings.ToLower(name), "prefix"):
		case ok && (strings.EqualFold(name, "prefix") || name == "INSTALL_MOD_PATH" || name == "INSTALL_PATH" || name == "INSTALL_ROOT" || strings.EqualFold(name, "destdir") || name == "--prefix" || name == "--target" || name == "--root" || name == "--user-root"):
			to = append(to, shell.Word{Value: value, Dynamic: a.Dynamic})
		case (a.Value == "-t" || a.Value == "--target" || a.Value == "--prefix" || a.Value == "--root") && i+1 < len(c.Args):
			to = append(to, c.Args[i+1])
		}
	}
	if installs && len(to) > 0 {
		for _, w := range to {
			if p, _, ok := f.named(w, dir); ok {
				f.add(Thing{Kind: Path, Name: p, Access: Update, Tree: true, Sure: 0.8})
			} else {
				f.opaque(dir)
			}
		}
		f.installed(c)
		return
	}
	f.opaque(dir)
	for _, w := range withoutText(c) {
		if name, value, ok := strings.Cut(w.Value, "="); ok && isVariable.MatchString(name) {
			// make O=../build
			if staged && strings.HasSuffix(strings.ToLower(name), "prefix") {
				continue
			}
			if to, _, ok := f.named(shell.Word{Value: value, Dynamic: w.Dynamic}, dir); ok && strings.Contains(value, "/") && !strings.Contains(value, "://") {
				f.reads(to)
				f.opaque(to)
			}
			continue
		}
		if shell.IsDevice(w.Value) {
			continue
		}
		if name, t, ok := f.named(w, c.Dir); ok && strings.Contains(w.Value, "/") && !strings.Contains(w.Value, "://") && !strings.HasSuffix(w.Value, "...") {
			t.Kind, t.Name, t.Access, t.Sure = Path, name, Read, 0.6
			f.add(t)
			f.opaque(path.Dir(name))
		}
	}
	f.installed(c)
}

// isVariable matches names of variables that a call sets for a program.
var isVariable = lazyregexp.New(`^[A-Za-z_]\w*$`)

// installers are programs that install packages, by their subcommands.
var installers = map[string]map[string]bool{
	"pip": words("install"), "pip3": words("install"), "pipx": words("install"), "uv": words("add sync"), "poetry": words("add install"),
	"npm": words("install i ci add"), "yarn": words("add install"), "pnpm": words("add install i"), "bun": words("add install"),
	"apt": words("install"), "apt-get": words("install"), "apk": words("add"), "dnf": words("install"), "yum": words("install"),
	"brew": words("install"), "gem": words("install"), "cargo": words("install add"), "go": words("install get"), "conda": words("install create"),
}

// installed adds the packages that a call installs.
func (f *finder) installed(c *shell.Call) {
	if !installers[c.Name][c.Sub()] {
		return
	}
	for _, w := range shell.Operands(c.After(), "-r -c -t --target --prefix --root -i --index-url -e --version") {
		if !w.Dynamic && !strings.HasPrefix(w.Value, ".") && !strings.HasPrefix(w.Value, "/") {
			f.add(Thing{Kind: Package, Name: c.Name + " " + strings.ToLower(w.Value), Access: Write})
		}
	}
}

// uninstallers are the subcommands by which installers remove packages.
var uninstallers = words("uninstall remove rm purge autoremove del un erase")

// Uninstalls reports whether a call removes a package that an installer installed, by the name of its thing.
func Uninstalls(c *shell.Call, pkg string) bool {
	if installers[c.Name] == nil || !uninstallers[c.Sub()] {
		return false
	}
	return slices.ContainsFunc(shell.Operands(c.After(), "-r -c -t --target --prefix --root"), func(w shell.Word) bool {
		rest, ok := strings.CutPrefix(pkg, c.Name+" "+strings.ToLower(w.Value))
		return ok && !w.Dynamic && (rest == "" || strings.Contains("=<>!~@[", rest[:1])) // with its version
	})
}

// container judges docker and podman.
func (f *finder) container(c *shell.Call) {
	f.acts++
	sub, after := c.Sub(), c.After()
	name, named := c.FlagValue("--name")
	switch sub {
	case "build", "buildx":
		if w, ok := c.FlagValue("-t", "--tag"); ok {
			f.add(Thing{Kind: Image, Name: w.Value, Access: Write})
		}
		f.reads(c.Dir)
		f.readTrees(c, shell.Operands(after, "-t --tag -f --file --build-arg --target --platform --label --network"))
	case "pull":
		for _, w := range shell.Operands(after, "--platform") {
			f.add(Thing{Kind: Image, Name: w.Value, Access: Write})
		}
	case "tag":
		if ws := shell.Operands(after, ""); len(ws) == 2 {
			f.add(Thing{Kind: Image, Name: ws[0].Value, Access: Read})
			f.add(Thing{Kind: Image, Name: ws[1].Value, Access: Write})
		}
	case "rmi":
		for _, w := range shell.Operands(after, "") {
			f.add(Thing{Kind: Image, Name: w.Value, Access: Remove})
		}
	case "rm", "stop", "kill":
		access := Update
		if sub == "rm" {
			access = Remove
		}
		for _, w := range shell.Operands(after, "-t --time -s --signal") {
			f.add(Thing{Kind: Container, Name: w.Value, Access: access})
		}
	case "exec", "start", "restart", "cp":
		for _, w := range shell.Operands(after, "-e --env -w --workdir -u --user")[:min(1, len(shell.Operands(after, "-e --env -w --workdir -u --user")))] {
			f.add(Thing{Kind: Container, Name: w.Value, Access: Update})
		}
	case "run", "create":
		if named {
			f.add(Thing{Kind: Container, Name: name.Value, Access: Write})
		}
		if ws := shell.Operands(after, dockerValued); len(ws) > 0 {
			f.add(Thing{Kind: Image, Name: ws[0].Value, Access: Read})
		}
		for i, a := range c.Args {
			if a.Value == "-p" && i+1 < len(c.Args) {
				if host, _, ok := strings.Cut(c.Args[i+1].Value, ":"); ok {
					f.add(Thing{Kind: Port, Name: host, Access: Write})
				}
			}
			if (a.Value == "-v" || a.Value == "--volume") && i+1 < len(c.Args) {
				if host, _, ok := strings.Cut(c.Args[i+1].Value, ":"); ok && strings.ContainsAny(host, "/.$") {
					f.path(shell.Word{Value: host, Dynamic: c.Args[i+1].Dynamic}, c.Dir, Update, true)
				}
			}
		}
		f.Background = f.Background || c.Flag("-d", "--detach")
	default:
		f.opaque(c.Dir)
		f.Known = false
	}
}

const dockerValued = "-e --env -v --volume -p --publish --name -w --workdir -u --user --network --net -h --hostname --entrypoint -m --memory --cpus --env-file -l --label --mount --restart --platform"

// terminal reports whether a call needs a terminal.
func (f *finder) terminal(c *shell.Call) bool {
	if c.Inner || c.Background {
		return false
	}
	fed := c.Piped || c.Fed
	ops := shell.Operands(c.Args, "-h -p -U -d -u -P -D --host --port --user --database --db")
	switch {
	case c.Name == "man", c.Name == "less", c.Name == "more", c.Name == "info":
		return !c.Drained && !fed
	case c.Name == "vim" || c.Name == "vi" || c.Name == "nvim":
		return !c.Flag("-es", "-Es", "--headless") && !fed
	case c.Name == "emacs":
		return !c.Flag("--batch", "-batch")
	case c.Name == "ed":
		return !fed
	case c.Name == "gdb" || c.Name == "lldb":
		return !c.Flag("-batch", "--batch", "-b")
	case c.Name == "top" || c.Name == "htop":
		return !c.Flag("-b")
	case c.Name == "crontab":
		return c.Flag("-e")
	case c.Name == "ssh":
		return !c.Wraps && !c.Flag("-N", "-f", "-V", "-O", "-G", "-Q")
	case c.Name == "psql" || c.Name == "mysql" || c.Name == "mariadb" || c.Name == "mongosh" || c.Name == "redis-cli" || c.Name == "sqlite3":
		return !fed && !c.Flag("-c", "-f", "-e", "--command", "--file", "--execute", "--eval", "-l", "--list", "--version", "-V") && (c.Name != "sqlite3" && c.Name != "redis-cli" || len(ops) < 2)
	case shells[c.Name]:
		return !fed && len(c.Args) == 0
	case c.Name == "docker" || c.Name == "podman":
		return (c.Sub() == "run" || c.Sub() == "exec" || c.Sub() == "attach") && c.Flag("-it", "-ti", "-t", "--tty") && !c.Flag("-d")
	case c.Name == "git":
		sub := c.Sub()
		after := shell.Call{Name: "git", Args: c.After()}
		return sub == "commit" && !after.Flag("-m", "--message", "-F", "--file", "-C", "--no-edit", "--fixup", "--squash", "--reuse-message") && !fed && !f.edited(c, false) ||
			sub == "rebase" && after.Flag("-i", "--interactive") && !f.edited(c, true) || asksOfPatches(sub, &after) && !fed || sub == "mergetool" || sub == "difftool"
	}
	return interactive[c.Name]
}

// gitPatches are the commands of git that ask about each change with --patch, on the terminal or on what they
// are fed.
var gitPatches = words("add checkout reset restore stash commit")

// asksOfPatches reports whether a command of git asks about each change. git stash does so where it stores
// changes, not where it shows them.
func asksOfPatches(sub string, after *shell.Call) bool {
	if !gitPatches[sub] || !after.Flag("-p", "-i", "--patch", "--interactive") {
		return false
	}
	words := shell.Operands(after.Args, "")
	return sub != "stash" || len(words) == 0 || words[0].Value == "push" || words[0].Value == "save"
}

// cleaning are targets that remove what builds made.
var cleaning = words("clean distclean realclean mrproper clobber veryclean maintainer-clean mostlyclean")

// cleans judges a builder that is told to remove what it made, and nothing else.
func (f *finder) cleans(c *shell.Call) bool {
	if !builders[c.Name] {
		return false
	}
	ws := shell.Operands(c.Args, "-C -f -j -k -p --prefix --manifest-path --target-dir")
	if len(ws) > 0 && ws[0].Value == "run" {
		ws = ws[1:]
	}
	if tool, ok := c.FlagValue("-t"); ok && c.Name == "ninja" {
		ws = []shell.Word{tool}
	}
	dir := c.Dir
	if w, ok := c.FlagValue("-C"); ok {
		dir, _, _ = f.named(w, c.Dir)
	}
	targets := 0
	for _, w := range ws {
		name, value, sets := strings.Cut(w.Value, "=")
		switch {
		case cleaning[w.Value]:
			targets++
		case !sets:
			return false
		case name == "O":
			dir, _, _ = f.named(shell.Word{Value: value, Dynamic: w.Dynamic}, dir)
		}
	}
	if targets == 0 {
		return false
	}
	if dir == "" {
		return false
	}
	f.acts++
	f.Known = false
	f.reads(dir)
	f.add(Thing{Kind: Products, Name: dir, Access: Remove})
	return true
}
