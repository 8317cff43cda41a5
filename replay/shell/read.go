package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxCalls bounds the calls of one line, and maxNested the lines inside words.
const (
	MaxCalls  = 512
	maxNested = 3
)

// reader walks the syntax of a line.
type reader struct {
	line     *Line
	dir      string
	home     string
	looping  bool                       // in a loop, in which values change
	value    func(l *Line, w Word) Word // see ReadIn
	inner    int                        // substitutions around this place
	deferred bool
	subshell bool
	maybe    bool // in a branch
	abroad   bool
	via      []string
	nested   int
	loops    map[string][]Word // variables of loops
	seen     map[string]bool   // variables in line.Uses
	piped    bool
	drained  bool
	kept     bool
	ground   bool            // in the background
	open     map[string]bool // the descriptors that exec has opened
	// document is what the here-document of the statement around this place holds.
	document *string
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

// branch runs f for what may not run.
func (r *reader) branch(f func()) {
	was := r.maybe
	r.maybe = true
	f()
	r.maybe = was
}

// apart runs f in a shell of its own, whose directory does not last.
func (r *reader) apart(f func()) {
	dir := r.dir
	f()
	r.dir = dir
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s.Background || s.Coprocess {
		if r.inner == 0 && !r.deferred {
			r.line.Background = true
		}
		was := r.ground
		r.ground = true
		r.apart(func() { r.body(s) })
		r.ground = was
		return
	}
	r.body(s)
}

func (r *reader) body(s *syntax.Stmt) {
	r.descriptors(s)
	fed, drained, kept, document := false, r.drained, r.kept, r.document
	for _, rd := range s.Redirs {
		op := rd.Op.String()
		switch {
		case rd.Hdoc != nil || rd.Op == syntax.WordHdoc:
			fed = true
			if rd.Hdoc != nil {
				r.expansions(rd.Hdoc)
			}
			r.expansions(rd.Word)
			document = r.content(rd)
			continue
		case strings.HasSuffix(op, "&"):
			if t := r.word(rd.Word); t.Value == "-" || strings.Trim(t.Value, "0123456789-") == "" {
				// Another descriptor. One above 2 is a file's, if the line does not open it itself.
				opens := slices.ContainsFunc(s.Redirs, func(o *syntax.Redirect) bool { return o.N != nil && o.N.Value == t.Value })
				r.line.Descriptors = r.line.Descriptors || op == ">&" && t.Value > "2" && t.Value != "-" && !opens && !r.open[t.Value]
				continue
			}
		}
		target := r.word(rd.Word)
		if IsDevice(target.Value) && !IsDisk(target.Value) {
			if host := connects(target.Value); host != "" && !r.abroad {
				r.line.Connects = append(r.line.Connects, host)
				if port := path.Base(target.Value); !r.deferred && (host == "localhost" || strings.HasPrefix(host, "127.")) {
					r.line.Sockets = append(r.line.Sockets, Word{Text: port, Value: port, Dynamic: target.Dynamic})
				}
			}
			if commanded(target.Value) && strings.Contains(op, ">") && !r.abroad {
				r.line.Devices = append(r.line.Devices, target.Value)
			}
			if op == "<" && target.Value == "/dev/null" {
				document = new(string)
			}
			fed = fed || strings.HasPrefix(op, "<")
			if strings.HasPrefix(op, ">") && (rd.N == nil || rd.N.Value == "1") {
				drained, kept = true, false
			}
			continue
		}
		if strings.HasPrefix(op, "<") {
			fed = true
		} else if rd.N == nil || rd.N.Value == "1" {
			drained, kept = true, true
		}
		r.line.Redirects = append(r.line.Redirects, Redirect{Op: op, Target: target, Dir: r.dir, Abroad: r.abroad, Deferred: r.deferred, Maybe: r.maybe, Before: len(r.line.Calls)})
	}
	was, wasKept, outer := r.drained, r.kept, r.document
	r.drained, r.kept, r.document = drained, kept, document
	before := len(r.line.Calls)
	r.command(s.Cmd)
	r.drained, r.kept, r.document = was, wasKept, outer
	r.text(s, before, document)
	if fed {
		for i := before; i < len(r.line.Calls); i++ {
			r.line.Calls[i].Fed = true
		}
	}
}

func (r *reader) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			drained, kept, piped := r.drained, r.kept, r.piped
			r.drained, r.kept = true, false
			r.apart(func() { r.stmt(c.X) })
			document := r.document
			r.drained, r.kept, r.piped, r.document = drained, kept, true, nil
			r.apart(func() { r.stmt(c.Y) })
			r.piped, r.document = piped, document
			return
		}
		r.stmt(c.X)
		if c.Op == syntax.OrStmt {
			r.branch(func() { r.stmt(c.Y) })
			return
		}
		r.stmt(c.Y)
	case *syntax.Subshell:
		was := r.subshell
		r.subshell = true
		r.apart(func() { r.stmts(c.Stmts) })
		r.subshell = was
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.branch(func() { r.stmts(c.Then) })
		}
	case *syntax.WhileClause:
		was := r.looping
		r.looping = true
		r.stmts(c.Cond)
		r.branch(func() { r.stmts(c.Do) })
		r.looping = was
	case *syntax.ForClause:
		if loop, ok := c.Loop.(*syntax.WordIter); ok {
			items := r.loops[loop.Name.Value]
			for _, w := range loop.Items {
				items = append(items, r.word(w))
			}
			r.loops[loop.Name.Value] = items
			r.leaves(loop.Name.Value)
		} else if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
			r.expansions(loop)
			if set, ok := loop.Init.(*syntax.BinaryArithm); ok {
				if w, ok := set.X.(*syntax.Word); ok {
					r.leaves(w.Lit())
				}
			}
		}
		was := r.looping
		r.looping = true
		r.stmts(c.Do)
		r.looping = was
	case *syntax.CaseClause:
		items, sure := r.taken(r.known(r.word(c.Word)), c.Items)
		for _, it := range items {
			if sure {
				r.stmts(it.Stmts)
			} else {
				r.branch(func() { r.stmts(it.Stmts) })
			}
		}
	case *syntax.FuncDecl:
		if c.Name != nil && r.inner == 0 {
			r.line.Functions = append(r.line.Functions, c.Name.Value)
			if r.line.Bodies == nil {
				r.line.Bodies = map[string]string{}
			}
			if r.line.fish {
				r.line.Bodies[c.Name.Value] = asBash(c.Body)
			} else {
				r.line.Bodies[c.Name.Value] = cut(r.line.Source, int(c.Body.Pos().Offset()), int(c.Body.End().Offset()))
			}
		}
		was := r.deferred
		r.deferred = true
		r.apart(func() { r.stmt(c.Body) })
		r.deferred = was
	case *syntax.DeclClause:
		r.declaration(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		r.line.Background = true
		r.apart(func() { r.stmt(c.Stmt) })
	case nil:
	default:
		r.expansions(c)
		r.counts(c)
	}
}

// known returns a word with the values of its variables, as far as they are known.
func (r *reader) known(w Word) Word {
	if r.value == nil || r.looping || !w.Dynamic {
		return w
	}
	return r.value(r.line, w)
}

// taken returns the branches of case that may be taken. sure tells that it is the one that is taken, if any: the word
// and all patterns up to its own are known.
func (r *reader) taken(w Word, items []*syntax.CaseItem) (may []*syntax.CaseItem, sure bool) {
	if w.Dynamic || r.value == nil {
		return items, false
	}
	for i, it := range items {
		for _, p := range it.Patterns {
			p := r.word(p)
			matches, err := path.Match(p.Value, w.Value)
			switch {
			case p.Value == "*" && !p.Quoted, !p.Dynamic && !p.Glob && p.Value == w.Value, p.Glob && !p.Dynamic && !p.Quoted && matches:
				if it.Op != syntax.Break {
					return items, false // it goes on with the next
				}
				return items[i : i+1], true
			case p.Dynamic, p.Glob && (p.Quoted || err != nil || strings.Contains(w.Value, "/")):
				return items, false
			}
		}
	}
	return nil, true
}

// counts adds the variables that arithmetic sets: ((n++)), echo $((n = 3)).
func (r *reader) counts(c syntax.Node) {
	name := func(x syntax.ArithmExpr) {
		if w, ok := x.(*syntax.Word); ok {
			r.sets(w.Lit())
		}
	}
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
				name(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				name(n.X)
			}
		}
		return true
	})
}

// call adds a simple command.
func (r *reader) call(c *syntax.CallExpr) {
	var assigns []Variable
	for _, a := range c.Assigns {
		assigns = append(assigns, r.assign(a))
	}
	if len(c.Args) == 0 {
		if r.inner == 0 && !r.deferred {
			r.line.Assigned = append(r.line.Assigned, assigns...)
		}
		return
	}
	words := make([]Word, len(c.Args))
	for i, w := range c.Args {
		words[i] = r.word(w)
	}
	r.simple(words, assigns)
}

// declaration adds export, declare, local and readonly as calls.
func (r *reader) declaration(c *syntax.DeclClause) {
	name := c.Variant.Value
	words := []Word{{Text: name, Value: name}}
	exports, global := name == "export", false
	for _, a := range c.Args {
		if a.Naked && a.Value != nil {
			w := r.word(a.Value)
			words = append(words, w)
			global = global || strings.HasPrefix(w.Value, "-") && strings.Contains(w.Value, "g")
			exports = exports || name != "local" && strings.HasPrefix(w.Value, "-") && strings.Contains(w.Value, "x")
		}
	}
	for _, a := range c.Args {
		if a.Name == nil {
			continue
		}
		v := r.assign(a)
		v.Exported, v.Local = exports, name == "local" || (name == "declare" || name == "typeset") && !global
		words = append(words, Word{Text: v.Name, Value: v.Name})
		if r.inner == 0 && !r.deferred {
			if a.Naked {
				r.use(v.Name) // export A, of a variable that is there
			}
			r.line.Assigned = append(r.line.Assigned, v)
		}
	}
	r.add(Call{Name: name, Head: words[0], Args: words[1:]})
}

func (r *reader) assign(a *syntax.Assign) Variable {
	v := Variable{Name: a.Name.Value, Unknown: true, Maybe: r.maybe, Apart: r.subshell, Appends: a.Append, Before: len(r.line.Calls)}
	if a.Append || a.Index != nil {
		r.use(v.Name) // what else is in it stays
	}
	switch {
	case a.Index != nil:
		r.expansions(a)
	case a.Value != nil:
		v.Value = r.word(a.Value)
		v.Unknown = v.Value.Dynamic
		v.Unknown = v.Unknown || a.Append
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.expansions(e.Index)
			}
			if e.Value != nil {
				v.List = append(v.List, r.word(e.Value))
			}
		}
	case !a.Naked:
		v.Unknown = false // A=
	}
	return v
}

// add adds a call in the reader's place.
func (r *reader) add(c Call) {
	if len(r.line.Calls) >= MaxCalls {
		return
	}
	c.Dir, c.Via, c.Abroad, c.Inner, c.Background = r.dir, slices.Clone(r.via), r.abroad, r.inner > 0, r.ground
	c.Apart = r.subshell
	c.Deferred, c.Maybe, c.Piped, c.Drained, c.Kept, c.Document = r.deferred, r.maybe, r.piped, r.drained, r.kept, r.document
	if c.Abroad {
		c.Dir = ""
	}
	r.line.Calls = append(r.line.Calls, c)
}

// goes follows a change of directory.
func (r *reader) goes(name string, args []Word) {
	if r.inner > 0 || r.deferred || r.abroad {
		return
	}
	dir, known := "", false
	switch to := Operands(args, ""); {
	case len(to) == 0 && name == "cd":
		dir, known = r.home, r.home != ""
	case len(to) == 1 && to[0].Value != "-":
		dir, known = Resolve(r.known(to[0]), r.dir, r.home)
	}
	if r.dir = ""; known {
		r.dir = path.Clean(dir)
	}
}

// leaves notes the variable of a loop.
func (r *reader) leaves(name string) {
	if isName(name) && r.inner == 0 && !r.deferred && !r.subshell {
		r.line.Looped = append(r.line.Looped, name)
	}
}

func (r *reader) use(name string) {
	_, loops := r.loops[name]
	r.line.Process = r.line.Process || name == "$"
	if name == "" || r.seen[name] || loops || name != "!" && strings.Trim(name, "0123456789@*#?-$!_") == "" {
		return
	}
	if r.inner == 0 && slices.ContainsFunc(r.line.Assigned, func(v Variable) bool { return v.Name == name && (r.subshell || !v.Apart) }) {
		return // the line set it itself
	}
	r.seen[name] = true
	r.line.Uses = append(r.line.Uses, name)
}

// expansions reads the variables and substitutions inside a node that is no simple command.
func (r *reader) expansions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil {
				r.use(n.Param.Value)
				if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
					r.sets(n.Param.Value)
				}
			}
		case *syntax.BinaryTest:
			if n.Op == syntax.TsReMatch {
				r.sets("BASH_REMATCH")
			}
		case *syntax.ArithmExp:
			r.bare(n.X)
			r.counts(n.X)
		case *syntax.ArithmCmd:
			r.bare(n.X)
		case *syntax.CStyleLoop:
			r.bare(n.Init, n.Cond, n.Post)
		case *syntax.LetClause:
			r.bare(n.Exprs...)
		case *syntax.ParenArithm:
			r.bare(n.X)
		case *syntax.UnaryArithm:
			r.bare(n.X)
		case *syntax.BinaryArithm:
			if r.bare(n.Y); n.Op != syntax.Assgn {
				r.bare(n.X)
			}
		case *syntax.CmdSubst:
			r.within(n.Stmts)
			return false
		case *syntax.ProcSubst:
			r.within(n.Stmts)
			return false
		}
		return true
	})
}

// bare adds the variables that parts of arithmetic name without a dollar sign.
func (r *reader) bare(parts ...syntax.ArithmExpr) {
	for _, x := range parts {
		if w, ok := x.(*syntax.Word); ok {
			if name := w.Lit(); isName(name) {
				r.use(name)
			}
		}
	}
}

func (r *reader) within(stmts []*syntax.Stmt) {
	piped, drained, kept, document := r.piped, r.drained, r.kept, r.document
	r.inner++
	r.piped, r.drained, r.kept, r.document = false, true, true, nil
	r.apart(func() { r.stmts(stmts) })
	r.inner--
	r.piped, r.drained, r.kept, r.document = piped, drained, kept, document
}

// flowing are devices, by what follows /dev/, that hold nothing of what is written into them: terminals, pipes,
// and what shows, plays or counts.
var flowing = regexp.MustCompile(`^/dev/(null|zero|full|u?random|tty\w*|ptmx|console|std(in|out|err)|fd|pts|tcp|udp|u?log|kmsg|video\d*|dri|fb\d+|bus|snd|dsp|audio|midi\w*|u?input|rtc\d*|hpet|net|ppp|kvm|vhost\S*|s[gr]\d+|cdrom|dvd|fuse|rfkill|char|cpu|nvidia\S*|kfd)(/|$)`)

// IsDisk reports whether a path is that of a device which holds what is written into it, whatever the name of its
// group of volumes.
func IsDisk(path string) bool {
	return IsDevice(path) && !flowing.MatchString(path) && !commanded(path)
}

// IsDevice reports whether a path is a device's. Below /dev/shm are files.
func IsDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// commanded reports whether a path is that of a device which does what is written into it: on a serial line, a
// tape, a printer, a bus.
func commanded(path string) bool {
	for _, name := range [...]string{"ttyUSB", "ttyACM", "ttyAMA", "ttyS", "st", "nst", "lp", "usb/", "i2c", "spidev", "gpio", "hidraw", "watchdog"} {
		rest, ok := strings.CutPrefix(path, "/dev/"+name)
		if ok && (strings.HasSuffix(name, "/") || rest == "" && name == "watchdog" || rest != "" && rest[0] >= '0' && rest[0] <= '9' || strings.HasPrefix(rest, "-") || name == "gpio") {
			return true
		}
	}
	return false
}

// connects returns the host that a redirection of bash to a path opens a connection to, empty if it opens
// none.
func connects(path string) string {
	for _, kind := range [...]string{"/dev/tcp/", "/dev/udp/"} {
		if at, ok := strings.CutPrefix(path, kind); ok {
			host, _, _ := strings.Cut(at, "/")
			return host
		}
	}
	return ""
}
