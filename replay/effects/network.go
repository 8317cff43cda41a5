package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// wget judges wget: it keeps what it fetches, unless it only asks, or writes to its standard output.
func (f *finder) wget(c *shell.Call) {
	own := *c
	own.Args = slices.DeleteFunc(slices.Clone(c.Args), func(w shell.Word) bool { return wgetPairs.MatchString(w.Value) })
	if w, ok := own.FlagValue("-i", "--input-file"); ok && w.Value != "-" {
		f.path(w, c.Dir, Read, false)
	}
	sends := own.Flag("--post-data", "--post-file", "--body-data", "--body-file")
	if m, ok := own.FlagValue("--method"); ok && m.Value != "GET" && m.Value != "HEAD" {
		sends = true
	}
	if sends {
		for _, p := range f.portsOf(c) {
			f.add(Thing{Kind: Port, Name: p, Access: Update, Sure: 0.8})
		}
	}
	to, named := own.FlagValue("-O", "--output-document")
	switch {
	case named && (to.Value == "-" || to.Value == "/dev/null"), own.Flag("--spider"):
		if sends {
			f.acts++
		} else {
			f.sees++
		}
		return
	case named:
		f.acts++
		f.path(to, c.Dir, Write, false)
		return
	}
	f.acts++
	into, below := own.FlagValue("-P", "--directory-prefix")
	if own.Flag("-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites", "-x", "--force-directories", "-i", "--input-file") {
		if below {
			f.path(into, c.Dir, Write, true)
		} else {
			f.opaque(c.Dir)
		}
		return
	}
	for _, w := range shell.Operands(own.Args, wgetValued) {
		w = f.expand(w)
		name := path.Base(w.Value)
		switch {
		case strings.ContainsAny(name, "$`"):
			f.opaque(c.Dir)
		case name == "/" || name == ".":
		case below:
			f.path(shell.Word{Value: path.Join(into.Value, name), Dynamic: into.Dynamic}, c.Dir, Write, false)
		default:
			f.path(shell.Word{Value: name}, c.Dir, Write, false)
		}
	}
}

// wgetPairs matches the flags of wget that have two letters, which are not two flags: -nH, -np, -nv.
var wgetPairs = lazyregexp.New(`^-n[a-zA-Z]$`)

// wgetValued are flags of wget that take a value.
const wgetValued = "-P --directory-prefix -U --user-agent --header -A --accept -R --reject -l --level -t --tries -T --timeout -w --wait --waitretry -e --execute -o --output-file -a --append-output -B --base --user --password --post-data --post-file --body-data --body-file --method -D --domains -I -X --limit-rate -Q --quota"

// fetches judges curl: it looks, unless it keeps what it fetches or sends something.
func (f *finder) fetches(c *shell.Call) {
	kept := false
	urls := shell.Operands(c.Args, "-o -d -H -X -u -A -e -b -c -w -m -F -T --output --data --header --request --user --retry --retry-delay --max-time --connect-timeout --data-binary --data-raw --data-urlencode --data-ascii --form --form-string --upload-file --json --cookie --cookie-jar --write-out --user-agent --proxy --cacert --cert --key")
	if w, ok := c.FlagValue("-o", "--output"); ok && w.Value != "-" && w.Value != "/dev/null" {
		kept = true
		f.path(w, c.Dir, Write, false)
	}
	for _, flag := range []string{"-c --cookie-jar", "-D --dump-header", "--trace", "--trace-ascii", "--etag-save", "--hsts"} {
		if w, ok := c.FlagValue(strings.Fields(flag)...); ok && w.Value != "-" {
			kept = true
			f.path(w, c.Dir, Write, false)
		}
	}
	if w, ok := c.FlagValue("-b", "--cookie"); ok && !strings.Contains(w.Value, "=") {
		f.path(w, c.Dir, Read, false)
	}
	if c.Flag("-O", "--remote-name") {
		kept = true
		for _, w := range urls {
			if w = f.expand(w); w.Dynamic && strings.ContainsAny(path.Base(w.Value), "$`") {
				f.opaque(c.Dir)
			} else {
				f.path(shell.Word{Value: path.Base(w.Value)}, c.Dir, Write, false)
			}
		}
	}
	for i, w := range c.Args[:max(len(c.Args)-1, 0)] {
		if saysText[w.Value] && !strings.HasPrefix(c.Args[i+1].Value, "@") {
			f.noPath(c, c.Args[i+1])
		}
	}
	sends := c.Flag("-T", "--upload-file", "-F", "--form", "--form-string") || !c.Flag("-G", "--get") &&
		c.Flag("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json")
	if m, ok := c.FlagValue("-X", "--request"); ok && m.Value != "GET" && m.Value != "HEAD" {
		sends = true
	}
	if kept || sends {
		f.acts++
	} else {
		f.sees++
	}
	if sends {
		for _, p := range f.portsOf(c) {
			f.add(Thing{Kind: Port, Name: p, Access: Update, Sure: 0.8})
		}
		f.puts(c, urls)
	}
}

// puts adds the address to which a call of curl puts something, or of which it deletes what is there.
func (f *finder) puts(c *shell.Call, urls []shell.Word) {
	method, named := c.FlagValue("-X", "--request")
	upload := c.Flag("-T", "--upload-file")
	if len(urls) != 1 || !named && !upload || c.Flag("-o", "--output", "-O", "--remote-name") {
		return
	}
	at := f.expand(urls[0]).Value
	if strings.ContainsAny(at, "$`{[*?#") || upload && strings.HasSuffix(at, "/") {
		return
	}
	switch {
	case !named, method.Value == "PUT":
		f.add(Thing{Kind: Address, Name: at, Access: Write})
	case method.Value == "DELETE":
		f.add(Thing{Kind: Address, Name: at, Access: Remove})
	}
}

// saysText has the flags of curl whose value is no file, unless it begins with @.
var saysText = words(`-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -H --header -X --request -A --user-agent -e --referer
 -w --write-out -m --max-time --connect-timeout --retry --retry-delay --retry-max-time -u --user`)

// ports adds the ports of this machine that a call serves or calls.
func (f *finder) ports(c *shell.Call) {
	switch {
	case c.Background:
		for _, p := range f.portsOf(c) {
			if p == anyPort {
				continue
			}
			f.add(Thing{Kind: Port, Name: p, Access: Write, Value: f.serves(c), Sure: 0.8})
		}
		f.add(Thing{Kind: Job, Name: "&", Access: Write})
	case portReaders[c.Name]:
		for _, p := range f.portsOf(c) {
			f.add(Thing{Kind: Port, Name: p, Access: Read, Sure: 0.8})
		}
	}
}

var urlPort = lazyregexp.New(`^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\]|)(?::([0-9]{2,5}))?(?:/|\?|$)`)

// serves returns the directory whose files a call serves as they are, empty if it is none or not known.
func (f *finder) serves(c *shell.Call) string {
	dir, ok := shell.Word{Value: "."}, false
	switch {
	case strings.HasPrefix(c.Name, "python") && slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Value == "http.server" }):
		if w, given := c.FlagValue("-d", "--directory"); given {
			dir = w
		}
		ok = true
	case c.Name == "php":
		if _, ok = c.FlagValue("-S"); ok {
			if w, given := c.FlagValue("-t"); given {
				dir = w
			}
		}
	case c.Name == "busybox" && c.Sub() == "httpd":
		dir, ok = c.FlagValue("-h")
	case c.Name == "http-server", c.Name == "serve", c.Name == "darkhttpd":
		ok = true
		if ws := shell.Operands(c.Args, "-p -l -a --port --listen --addr"); len(ws) > 0 {
			dir = ws[0]
		}
	}
	if !ok {
		return ""
	}
	name, _, _ := f.named(dir, c.Dir)
	return name
}

// talks adds that a line speaks with a service at a port of this machine, or only looks whether that answers.
func (f *finder) talks(port shell.Word, looks bool) {
	if port.Dynamic {
		port.Value = anyPort
	} else if port.Value == "" || strings.Trim(port.Value, "0123456789") != "" {
		return
	}
	if looks {
		f.add(Thing{Kind: Port, Name: port.Value, Access: Read, Sure: 0.8})
		return
	}
	f.acts++
	f.add(Thing{Kind: Port, Name: port.Value, Access: Update, Sure: 0.8})
}

// anyPort stands for a port of this machine that is not known: localhost:$PORT.
const anyPort = "*"

// localPort matches a URL of this machine whose port is not known.
var localPort = lazyregexp.New(`^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\]):[$` + "`" + `]`)

// PortIn returns the port of this machine in a URL, empty if there is none.
func PortIn(url string) string {
	if m := urlPort.FindStringSubmatch(url); m != nil && strings.Contains(url, "://") {
		return m[1]
	}
	return ""
}

// portsOf returns the ports in the words of a call.
func (f *finder) portsOf(c *shell.Call) []string {
	var out []string
	for i, a := range c.Args {
		v := f.expand(a).Value
		if strings.Contains(v, "://") || strings.HasPrefix(v, "localhost") || strings.HasPrefix(v, "127.") {
			if localPort.MatchString(v) {
				out = append(out, anyPort)
			} else if m := urlPort.FindStringSubmatch(v); m != nil {
				p := m[1]
				switch {
				case p != "":
				case strings.HasPrefix(v, "https:"):
					p = "443"
				case strings.HasPrefix(v, "http:"), strings.HasPrefix(v, "localhost/"):
					p = "80"
				}
				if p != "" {
					out = append(out, p)
				}
			}
			continue
		}
		v = v[strings.LastIndexAny(v, ":=")+1:]
		if len(v) >= 2 && len(v) <= 5 && strings.Trim(v, "0123456789") == "" && (v[0] != '0') {
			flagged := i > 0 && strings.HasPrefix(c.Args[i-1].Value, "-")
			if len(v) >= 4 || flagged && strings.Contains("-p --port -P --listen", c.Args[i-1].Value) {
				out = append(out, v)
			}
		}
	}
	return out
}
