package danger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay/shell"
)

// Commands in words: what a call gives to a shell, or to a language that gives it to one. The reader of
// lines follows sh -c and the like by itself; what follows here is said in other ways.

// embedded returns the command lines in the words of a call that something runs.
func (c *call) embedded() (lines []string) {
	if lines, _, ok := c.runsAnother(); ok {
		for i := range lines {
			if c.Name == "cmd" {
				lines[i] = removal.ReplaceAllString(switches.ReplaceAllString(ofWindows(lines[i]), " -$1"), "${1}rm")
			}
		}
		return lines
	}
	if line := c.imaged(); line != "" {
		return []string{line}
	}
	switch {
	case !c.Wraps && (c.Name == "sudo" && c.Flag("-s", "-i", "--shell", "--login") || c.Name == "su"):
		return c.fedTexts()
	case c.Name == "trap":
		// What is removed by a name that only the run knows is what the script itself has made.
		if ws := shell.Operands(c.Args, ""); len(ws) > 1 && !strings.ContainsAny(ws[0].Value, "$`") {
			lines = append(lines, ws[0].Value)
		}
	case c.Name == "git" && c.Sub() == "config":
		if ws := shell.Operands(shell.Call{Args: c.After()}.Args, ""); len(ws) == 2 && strings.HasPrefix(ws[0].Value, "alias.") &&
			c.usedLater(func(o *shell.Call) bool { return o.Name == "git" && "alias."+o.Sub() == ws[0].Value }) {
			lines = append(lines, gitAlias(ws[1].Value))
		}
	case c.Name == "git" && c.Flag("-c"):
		for _, w := range c.Args {
			if text, ok := strings.CutPrefix(w.Value, "alias."+c.Sub()+"="); ok {
				lines = append(lines, strings.TrimSpace(gitAlias(text)+" "+joined(c.After())))
			}
			if m := gitProgram.FindStringSubmatch(w.Value); m != nil {
				lines = append(lines, m[1])
			}
		}
	case (c.Name == "make" || c.Name == "gmake") && !c.Flag("-n", "--just-print", "--dry-run", "--recon", "-q", "--question"):
		if w, ok := c.FlagValue("-f", "--file", "--makefile"); ok && (w.Value == "-" || w.Value == "/dev/stdin") {
			lines = append(lines, recipes(strings.Join(c.fedTexts(), "\n"))...)
		}
	case editors[c.Name]:
		for _, w := range c.Args {
			if text, ok := strings.CutPrefix(strings.TrimLeft(w.Value, ":+"), "!"); ok {
				lines = append(lines, text)
			}
		}
		for line := range strings.Lines(strings.Join(c.fedTexts(), "\n")) { // ed and ex run what stands behind !
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
				lines = append(lines, text)
			}
		}
	case languages[c.languageName()]:
		for _, text := range c.programs() {
			lines = append(lines, started(text)...)
			if c.Name == "tclsh" {
				for _, m := range execs.FindAllStringSubmatch(text, -1) {
					lines = append(lines, m[1])
				}
			}
		}
	case c.Name == "pwsh" || c.Name == "powershell":
		for _, text := range c.programs() {
			lines = append(lines, ofWindows(text))
		}
	case c.Name == "expect":
		for _, text := range c.programs() {
			lines = append(lines, spawned(text)...)
		}
	case c.Name == "parallel":
		if ws := shell.Operands(c.Args, "-j --jobs -a --arg-file --colsep -n -N -S --results"); len(ws) > 0 && strings.Contains(ws[0].Value, " ") {
			lines = append(lines, ws[0].Value)
		}
	case c.Name == "npx" || c.Name == "npm" && c.Sub() == "exec":
		if w, ok := c.FlagValue("-c", "--call"); ok {
			lines = append(lines, w.Value)
		}
	case shells[c.Name] && c.Flag("-n"):
		return nil // it only reads them
	case shells[c.Name], c.Name == "at", c.Name == "batch":
		if w, ok := c.FlagValue("-c"); ok && w.Dynamic && shells[c.Name] {
			lines = append(lines, c.printed(w)...)
		}
		if c.Document != nil || !shells[c.Name] || len(c.operands("")) == 0 {
			lines = append(lines, c.fedTexts()...)
			lines = append(lines, c.fedPieces()...)
		}
	case !textPrograms[c.Name] && !ownPrograms[c.Name] && !files[c.Name] && !c.Wraps && !c.onlySays() && c.Name != "openocd" || c.Name == "tmux" || c.Name == "screen":
		for i, w := range c.Args {
			if w.Quoted && !w.Dynamic && strings.ContainsAny(w.Value, " ") && (i == 0 || !isText.MatchString(c.Args[i-1].Value)) && !isText.MatchString(w.Value) && known(w.Value) {
				lines = append(lines, w.Value)
			}
		}
	}
	return lines
}

// ofWindows returns a line of Windows as a shell reads it, with slashes in its paths.
func ofWindows(line string) string { return strings.ReplaceAll(line, `\`, "/") }

var (
	// switches matches what cmd's programs take for flags, and removal its own commands that remove files.
	switches = lazyregexp.New(` /(\w)\b`)
	removal  = lazyregexp.New(`(?i)(^|[&|]\s*)(rd|rmdir|del|erase)\b`)
	// spawns and types match how expect starts a program, and types into it.
	spawns = lazyregexp.New(`\bspawn\s+(?:-noecho\s+)?([^;\n]+)`)
	types  = lazyregexp.New(`\bsend\s+(?:--\s+)?(?:"((?:[^"\\]|\\.)*)"|\{([^}]*)\})`)
)

// spawned returns the commands that a program of expect starts, each with what is typed into it.
func spawned(text string) (lines []string) {
	var typed strings.Builder
	for _, m := range types.FindAllStringSubmatch(text, -1) {
		typed.WriteString(strings.NewReplacer(`\r`, "\n", `\n`, "\n").Replace(m[1]+m[2]) + "\n")
	}
	for _, m := range spawns.FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1]+" <<'typed'\n"+typed.String()+"typed\n")
	}
	return lines
}

// usedLater reports whether a later call of the line is as a condition says.
func (c *call) usedLater(is func(*shell.Call) bool) bool {
	for i := c.at + 1; i < len(c.line.Calls); i++ {
		if is(&c.line.Calls[i]) {
			return true
		}
	}
	return false
}

var (
	editors   = words("vim vi nvim ex ed red view gvim")
	shells    = words("sh bash dash zsh ksh ash")
	languages = words("perl ruby python node nodejs deno bun php lua awk gawk mawk nawk tclsh osascript Rscript julia groovy emacs pypy swipl elixir iex kotlin scala ghc ghci runghc jshell clojure clj bb")
	// isText matches flags whose value is text for people.
	isText = lazyregexp.New(`^--?(m|t|b|message|msg|title|body|description|comment|notes?|subject|text|reason|name|summary|label|annotation|query|q|filter|format|template|where|grep|search|pattern|S|e|expr|expression)(=|$)`)
	// starts matches what starts another program in a language, with the first word or the whole line, in
	// quotes, and listed those words that follow in the same way.
	starts = lazyregexp.New(`(?:system|shell|execute|exec[vlpe]*|popen|spawn(?:Sync|vp?)?|execSync|execFile(?:Sync)?|run|call|check_call|check_output|Popen|getoutput|shell_exec|passthru|proc_open|qx|doshellscript|do shell script|capture[23]?e?)\s*[(\s]\s*[\[(]?\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")((?:\s*,\s*\[?\s*(?:'[^']*'|"[^"]*"))*)`)
	listed = lazyregexp.New(`'([^']*)'|"([^"]*)"`)
	ticks  = lazyregexp.New("`([^`]+)`|%x(?:\\{([^}]*)\\}|\\[([^\\]]*)\\]|\\(([^)]*)\\))")
	// gitProgram matches settings of git that name a program, with it.
	gitProgram = lazyregexp.New(`(?i)^(?:[\w.]*\.(?:pager|editor|sshcommand|external|textconv|cmd|helper)|pager\.\w+)=(.+)`)
	// posts matches what sends something in a language, and addresses what may name where to.
	posts = lazyregexp.New(`(?i)(requests|httpx|axios|http|got|client|session|ua|agent|new)\s*(\.|->)\s*(post|put|patch|delete)\b|Net::HTTP\.(post|put|delete|patch)|Net::HTTP::(Post|Put|Delete|Patch)|method['"]?\s*(:|=>|=)\s*['"](POST|PUT|PATCH|DELETE)|urlopen\([^)]*data\s*=|Request\([^)]*data\s*=|smtplib|Net::SMTP|mail\s*\(`)
	// server matches the host that a program gives mail to; stores and providers what it imports to reach a
	// database or a provider, and changesThere how it changes something there.
	server       = lazyregexp.New(`SMTP(?:_SSL)?\(\s*['"]([^'"]+)['"]`)
	stores       = lazyregexp.New(`\b(psycopg2?|asyncpg|pymysql|MySQLdb|mysql\.connector|mysql2?|sqlalchemy|pymongo|MongoClient|cassandra|snowflake|redis|pg|DBI)\b`)
	providers    = lazyregexp.New(`\b(boto3?|aiobotocore|google\.cloud|azure\.\w+|kubernetes|openstack|aws-sdk|@aws-sdk|googleapiclient)\b`)
	changesThere = lazyregexp.New(`\b(delete|terminate|destroy|stop|put|create|update|remove|patch|upload|publish|send)(_\w+|[A-Z]\w*)?\(`)
	addresses    = lazyregexp.New(`https?://[^\s'"]+`)
	execs        = lazyregexp.New(`\bexec\s+([^\n;\]]+)`)
	// deletes matches how Tcl and AppleScript remove, and said what AppleScript tells others to do.
	writes  = lazyregexp.New(`open\(\s*['"](/dev/[^'"]+)['"]\s*,\s*['"][rbt]*[wa+]`)
	deletes = lazyregexp.New(`file\s+delete\s+(?:-force\s+)?(?:--\s+)?(\S+)`)
	said    = lazyregexp.New(`(?i)\b(send\b.*\bto\b|empty (the )?trash|erase|shut down|restart|log out|delete)\b`)
)

// languageName is the name of a program without a version: python3.12 is python.
func (c *call) languageName() string {
	return strings.TrimRight(strings.TrimRight(c.Name, "0123456789."), "-")
}

// programs returns the texts that a language is given: after its flag, in a document, or, of awk, as a word.
func (c *call) programs() (texts []string) {
	awk := strings.HasSuffix(c.Name, "awk")
	for i, w := range c.Args {
		flag := i > 0 && c.Args[i-1].Value == "eval" || i > 0 && len(c.Args[i-1].Value) > 1 && c.Args[i-1].Value[0] == '-' && strings.ContainsAny(c.Args[i-1].Value[len(c.Args[i-1].Value)-1:], "cCerElpd") || i > 0 && c.Name == "swipl" && (c.Args[i-1].Value == "-g" || c.Args[i-1].Value == "-t")
		if flag || awk && w.Quoted {
			texts = append(texts, w.Value)
		}
	}
	if c.Document != nil {
		texts = append(texts, *c.Document)
	}
	return texts
}

var (
	// localData matches a program that opens a database which is a file, otherData one that may open others, and
	// statement what is said to them.
	localData = lazyregexp.New(`\bsqlite3\.connect\(|\bDatabaseSync\(|better-sqlite3`)
	otherData = lazyregexp.New(`\b(psycopg2?|pymysql|mysql|MySQLdb|pg|pyodbc|oracledb|cx_Oracle|asyncpg|sqlalchemy|subprocess|os)\b`)
	statement = lazyregexp.New(`(?i)^\s*(alter\s+table|create\s|drop\s+(table|index|view|trigger)|delete\s+from|insert\s|update\s+\w+\s+set|select\s|pragma\s|begin|commit|rollback|vacuum)\b`)
)

// started returns the command lines that a program in a language starts.
func started(text string) (lines []string) {
	local := localData.MatchString(text) && !otherData.MatchString(text)
	for _, m := range starts.FindAllStringSubmatch(text, -1) {
		line := strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(m[1] + m[2])
		if local && strings.HasPrefix(m[0], "exec") && statement.MatchString(line) {
			continue // of a database that is a file, as the shell of SQLite changes it
		}
		for _, more := range listed.FindAllStringSubmatch(m[3], -1) {
			line += " " + quoted(more[1]+more[2], false, false)
		}
		lines = append(lines, line)
	}
	for _, m := range ticks.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Join(m[1:], ""))
	}
	return lines
}

// known reports whether a text begins with a program that the table has, after what runs others.
func known(text string) bool {
	l, err := shell.Read(text, "bash", "")
	if err != nil {
		return false
	}
	for i := range l.Calls {
		if !l.Calls[i].Wraps {
			c := &call{Call: &l.Calls[i], line: l, at: i}
			if described, _ := command.Describes(c.Name); described && c.Sub() != "" {
				return true
			}
			return len(c.holdable(index())) > 0 || len(c.holdable(themes())) > 0
		}
	}
	return false
}

// written returns what a program in a language does by itself that is dangerous.
func (c *call) written() (kind, why string) {
	if !languages[c.languageName()] && c.Name != "pwsh" && c.Name != "powershell" {
		return "", ""
	}
	for _, text := range c.programs() {
		if fetchesCode.MatchString(text) && strings.HasPrefix(c.Name, "p") && !languages[c.languageName()] {
			return "code", "it runs what it fetches from the network, unseen"
		}
		if posts.MatchString(text) {
			for _, a := range addresses.FindAllString(text, -1) {
				if !loopback(a) {
					return "send", "its program sends something to another machine"
				}
			}
		}
		if at := server.FindStringSubmatch(text); at != nil && !local(at[1]) {
			return "mail", "its program sends a message"
		}
		if stores.MatchString(text) && destroys.MatchString(text) {
			return "database", "its program removes data from a database"
		}
		if providers.MatchString(text) && changesThere.MatchString(text) {
			return "infrastructure", "its program changes something at a provider"
		}
		for _, m := range writes.FindAllStringSubmatch(text, -1) {
			if isDisk(m[1]) {
				return "disk", "its program writes to a disk itself"
			}
		}
		for _, m := range deletes.FindAllStringSubmatch(text, -1) {
			if c.Name == "tclsh" && c.outside(shell.Word{Value: m[1]}, true) {
				return "remove", "its program removes what is outside the tree"
			}
		}
		if c.Name == "osascript" && said.MatchString(text) {
			return "send", "its program tells others to do something"
		}
	}
	return "", ""
}

// fetchesCode matches how PowerShell runs what it fetches.
var fetchesCode = lazyregexp.New(`(?i)\b(iex|invoke-expression)\b.*\b(iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b|\b(iwr|irm|downloadstring)\b.*\|\s*iex\b`)

// images are the names of images whose container runs a program by the words after them.
var images = map[string]string{
	"terraform": "terraform", "opentofu": "tofu", "kubectl": "kubectl", "helm": "helm", "aws-cli": "aws", "rclone": "rclone", "restic": "restic",
	"flyway": "flyway", "liquibase": "liquibase", "argocd": "argocd", "crane": "crane", "skopeo": "skopeo", "pulumi": "pulumi", "curl": "curl",
}

// imaged returns the command line that docker run gives to such an image, "" if there is none.
func (c *call) imaged() string {
	if c.Name != "docker" && c.Name != "podman" || c.Sub() != "run" {
		return ""
	}
	for i, w := range c.Args {
		if i == 0 || strings.HasPrefix(w.Value, "-") || !strings.Contains(w.Value, "/") || strings.HasPrefix(w.Value, "/") {
			continue
		}
		name, _, _ := strings.Cut(w.Value[strings.LastIndexByte(w.Value, '/')+1:], ":")
		if program, ok := images[name]; ok {
			return program + " " + joined(c.Args[i+1:])
		}
	}
	return ""
}

// maxEmbedded bounds how deep commands in words are followed.
const maxEmbedded = 4

// printed returns what a word that is $(printf …) or $(echo …) stands for, if its words are known.
func (c *call) printed(w shell.Word) (lines []string) {
	for i := range c.line.Calls {
		o := &c.line.Calls[i]
		if !o.Inner || o.Name != "printf" && o.Name != "echo" || len(o.Args) == 0 || !strings.Contains(w.Text, o.Head.Text+" "+o.Args[0].Text) {
			continue
		}
		text := joined(o.Args)
		if o.Name == "printf" {
			text = o.Args[0].Value
			for _, a := range o.Args[1:] {
				text = strings.Replace(text, "%s", a.Text, 1)
			}
		}
		lines = append(lines, text)
	}
	return lines
}

// inside returns what is dangerous about the commands in the words of a call.
func (c *call) inside() (found []Finding) {
	for _, l := range c.lines() {
		found = append(found, Find(l, c.deeper())...)
	}
	if c.place.depth >= maxEmbedded {
		return found
	}
	kind, why := c.written()
	if kind == "" && languages[c.languageName()] {
		kind, why = c.deeds()
	}
	if kind != "" && !slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == kind }) {
		found = append(found, Finding{Kind: kind, What: c.text(), Why: why})
	}
	return found
}

// lines returns the commands in the words of a call, as they are read where the call runs; deeper is that
// place.
func (c *call) lines() (lines []*shell.Line) {
	if c.place.depth >= maxEmbedded {
		return nil
	}
	_, how, _ := c.runsAnother()
	for _, text := range c.embedded() {
		l, err := shell.Read(text, "bash", c.deeper().Cwd)
		if err != nil {
			continue
		}
		if how.abroad || c.Abroad {
			for i := range l.Calls {
				l.Calls[i].Abroad, l.Calls[i].Dir = true, ""
			}
			for i := range l.Redirects {
				l.Redirects[i].Abroad = true
			}
		}
		lines = append(lines, l)
	}
	return lines
}

func (c *call) deeper() Place {
	at := c.place
	at.depth++
	at.plain = false
	at.Cwd = cmp.Or(c.Dir, at.Cwd)
	return at
}
