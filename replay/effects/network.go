package effects

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// fetches judges curl and wget: they look, unless they keep what they fetch or send something.
func (f *finder) fetches(c *shell.Call) {
	if c.Name == "wget" {
		if w, ok := c.FlagValue("-O", "--output-document"); ok {
			if w.Value == "-" || w.Value == "/dev/null" {
				f.sees++
				return
			}
			f.acts++
			f.path(w, c.Dir, Write, false)
			return
		}
		if c.Flag("--spider") {
			f.sees++
			return
		}
		f.acts++
		for _, w := range shell.Operands(c.Args, "-P --directory-prefix -U --header") {
			if base := path.Base(w.Value); !w.Dynamic && base != "/" && base != "." {
				f.path(shell.Word{Value: base}, c.Dir, Write, false)
			}
		}
		return
	}
	kept := false
	urls := shell.Operands(c.Args, "-o -d -H -X -u -A -e -b -c -w -m -F -T --output --data --header --request --user --retry --retry-delay --max-time --connect-timeout --data-binary --data-raw --data-urlencode --data-ascii --form --form-string --upload-file --json --cookie --cookie-jar --write-out --user-agent --proxy --cacert --cert --key")
	if w, ok := c.FlagValue("-o", "--output"); ok && w.Value != "-" && w.Value != "/dev/null" {
		kept = true
		f.path(w, c.Dir, Write, false)
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
			f.add(Thing{Kind: Port, Name: p, Access: Write, Value: f.serves(c), Sure: 0.8})
		}
		f.add(Thing{Kind: Job, Name: "&", Access: Write})
	case portReaders[c.Name]:
		for _, p := range f.portsOf(c) {
			f.add(Thing{Kind: Port, Name: p, Access: Read, Sure: 0.8})
		}
	}
}

var urlPort = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\]|)(?::([0-9]{2,5}))?(?:/|\?|$)`)

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
			if m := urlPort.FindStringSubmatch(v); m != nil {
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
