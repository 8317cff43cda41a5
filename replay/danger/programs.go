package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// What a program in a language does by itself, read out of its text: not by its syntax, of which there are too
// many, but by the calls in its code and what stands in its strings. A call in a string is only text.

// source is a program's text without what its strings say, and those strings.
type source struct {
	code    string
	strings []string
}

// sourceOf splits a text at quotes. A quote that is not closed is a part of the code.
func sourceOf(text string) source {
	var s source
	var code strings.Builder
	for i := 0; i < len(text); i++ {
		q := text[i]
		if q != '\'' && q != '"' && q != '`' {
			code.WriteByte(q)
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != q && text[end] != '\n' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) || text[end] != q {
			code.WriteByte(q)
			continue
		}
		s.strings = append(s.strings, text[i+1:end])
		code.WriteByte(q)
		code.WriteByte(q)
		i = end
	}
	s.code = code.String()
	return s
}

var (
	removing = lazyregexp.New(`\b((os|Deno|fs|fsp|File|FileUtils|Dir)(Sync)?\.(promises\.)?(remove\w*|unlink\w*|rm\w*|delete\w*)|unlink\w*|rmtree|remove_tree|rmSync|rmdirSync|rmdir|removeSync|rm_rf|rm_r|file\.remove|delete-(directory|file)|remove(File|Directory\w*|PathForcibly)|File\.rm_rf!?|deleteRecursively|deleteDir|Files\.delete\w*|delete-file)\b|\.(unlink|rmdir|delete|deleteOnExit)\(|^rm\(|[;\s]rm\(`)
	moving   = lazyregexp.New(`\b(shutil\.move|os\.(rename|renames|replace)|fs\.rename(Sync)?|renameSync|FileUtils\.(mv|move)|Deno\.rename(Sync)?|rename)\s*\(?`)
	// opening matches what may write a file in a code; written finds the file in the text.
	opening  = lazyregexp.New(`\bopen\(|write_(text|bytes)\(|\.(touch|mkdir|chmod|symlink_to)\(|(writeFile|appendFile|writeTextFile|createWriteStream|mkdir|symlink|chmod)(Sync)?\(|file_put_contents\(|\b(File|IO)\.(write|binwrite|open)\(|\bprintf?\b[^|]*>|shutil\.copy\w*\(|os\.(chmod|chown|symlink|mkdir|makedirs)\(|cp_r\(`)
	targetOf = []*lazyregexp.Regexp{
		lazyregexp.New(`open\(\s*['"](/[^'"]*)['"]\s*,\s*['"][^'"]*[wax+]`),
		lazyregexp.New(`open\([^,)]*,\s*['"]>>?\s*['"]?\s*,?\s*['"]?(/[^'"]*)`),
		lazyregexp.New(`Path\(\s*['"](/[^'"]*)['"]\s*\)[\w./ '"]*\.(?:write_\w+|touch|mkdir|chmod|symlink_to)`),
		lazyregexp.New(`(?:writeFile|appendFile|writeTextFile|createWriteStream|mkdir|chmod|file_put_contents|(?:File|IO)\.(?:bin)?write|os\.(?:chmod|chown|mkdir|makedirs))(?:Sync)?\(\s*['"](/[^'"]*)`),
		lazyregexp.New(`(?:shutil\.copy\w*|os\.symlink|symlinkSync|cp_r)\([^)]*,\s*['"](/[^'"]*)['"]\s*[,)]`),
		lazyregexp.New(`>>?\s*"(/[^"]*)"`),
	}
	killing = lazyregexp.New(`\b(os|process|Process)\.kill(pg)?\(\s*('',\s*)?\d+|posix_kill\(\s*\d+`)
	// posting matches what sends to a server, and asksHTTP clients that take the method as a string.
	posting  = lazyregexp.New(`(?i)(\.|->|::|\b(post|put|patch|delete)_)(post|put|patch|delete)(_form|Async)?\s*\(`)
	speaking = lazyregexp.New(`\b(TCPSocket|UDPSocket|create_connection|fsockopen|IO::Socket|net\.(connect|createConnection)|socket\.socket)\b`)
	saying   = lazyregexp.New(`\b(puts|send|sendall|write|fwrite|print|end)\b`)
	onOthers = lazyregexp.New(`\b(paramiko|fabric|Connection|asyncssh|netmiko|ConnectHandler|SSHClient|Net::SSH|ssh2|scp|pexpect)\b`)
	ordering = lazyregexp.New(`\b(exec_command|send_config_\w+|send_command|sudo|run|exec!?|put|upload!?|sendline)\s*\(`)
	storing  = lazyregexp.New(`\b(flushall|flushdb|flush_all|drop_database|drop_collection|drop|delete_many|delete_one|insert_\w+|update_(one|many)|replace_one|bulk_write|dropDatabase|deleteMany|insertOne|insertMany|updateMany|updateOne|set|hset|lpush|rpush|xadd|publish|truncate|index|bulk)\s*\(`)
	httpVerb = words("POST PUT PATCH DELETE post put patch delete")
	hostOf   = lazyregexp.New(`\bhost=([\w.-]+)`)
	mailing  = lazyregexp.New(`\bmail\s*\(|sendmail\(|send_message\(`)
)

// deeds returns what the programs in the words of a call do that is dangerous, beyond what written knows.
func (c *call) deeds() (kind, why string) {
	for _, text := range c.programs() {
		s := sourceOf(text)
		switch {
		case s.removesOutside(c):
			return "remove", "its program removes what is outside the tree"
		case s.writesSystem(c, text):
			return "system", "its program writes a file that belongs to the machine"
		case killing.MatchString(s.code):
			return "process", "its program ends a process by a number, which may be another one by now"
		case s.postsAway():
			return "send", "its program sends something to another machine"
		case onOthers.MatchString(s.code) && ordering.MatchString(s.code) && s.hasHost():
			return "remote", "its program changes something on another machine"
		case s.storesAway():
			return "database", "its program changes a database of another machine"
		case mailing.MatchString(s.code) && slices.ContainsFunc(s.strings, isAddress.MatchString) && !slices.ContainsFunc(s.strings, func(v string) bool { return v != "" && local(v) }):
			return "mail", "its program sends a message"
		}
	}
	return "", ""
}

// removesOutside reports whether the code removes or moves files, and a string names one outside the tree.
func (s source) removesOutside(c *call) bool {
	removes := removing.MatchString(s.code) || slices.Contains(s.strings, "unlink") || slices.Contains(s.strings, "rmdir")
	for i, v := range s.strings {
		path := strings.HasPrefix(v, "/") && len(v) > 1 || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "../")
		if path && !strings.ContainsAny(v, " \t") && (removes || i == 0 && moving.MatchString(s.code)) && c.outside(shell.Word{Value: v, Glob: strings.ContainsAny(v, "*?[")}, true) {
			return true
		}
	}
	return false
}

// writesSystem reports whether the code writes a file that belongs to the machine.
func (s source) writesSystem(c *call, text string) bool {
	if !opening.MatchString(s.code) {
		return false
	}
	for _, re := range targetOf {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if c.place.ofSystem(strings.TrimSpace(m[1])) {
				return true
			}
		}
	}
	return false
}

// postsAway reports whether the code sends to a server, or opens a connection and says something, and a string
// names another machine.
func (s source) postsAway() bool {
	sends := posting.MatchString(s.code) || slices.ContainsFunc(s.strings, func(v string) bool { return httpVerb[v] })
	speaks := speaking.MatchString(s.code) && saying.MatchString(s.code)
	if !sends && !speaks {
		return false
	}
	for _, v := range s.strings {
		url := strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://")
		if (url || isHostName.MatchString(v) && (speaks || strings.Contains(s.code, "HTTP"))) && !loopback(v) {
			return true
		}
	}
	return false
}

// storesAway reports whether the code changes a database, and a string names another machine.
func (s source) storesAway() bool {
	if !stores.MatchString(s.code) {
		return false
	}
	changes := storing.MatchString(s.code)
	away := false
	for _, v := range s.strings {
		if host := hostOf.FindStringSubmatch(v); host != nil && !local(host[1]) || strings.Contains(v, "://") && !loopback(v) && !strings.HasPrefix(v, "http") || isHostName.MatchString(v) && !loopback(v) {
			away = true
		}
		changes = changes || isChange.MatchString(v)
	}
	return away && changes
}

// isChange matches statements of SQL that change something.
var isChange = lazyregexp.New(`(?i)^\s*(insert\s+into|update\s+[\w."]+\s+set|delete\s+from|drop\s|alter\s|truncate\s|grant\s|revoke\s|create\s)`)

// hasHost reports whether a string may name another machine.
func (s source) hasHost() bool {
	return slices.ContainsFunc(s.strings, func(v string) bool {
		host := v[strings.LastIndexByte(v, '@')+1:]
		return host != "" && !strings.ContainsAny(host, " /\\\n") && !local(host)
	})
}
