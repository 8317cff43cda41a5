package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// Clients of databases on other machines. A statement that does more than ask changes what others see there,
// whatever its verb.

// clients are such programs, with the flags that name the host, and those that hold a statement.
var clients = map[string]struct{ host, statement string }{
	"psql":              {"-h --host", "-c --command"},
	"mysql":             {"-h --host", "-e --execute"},
	"mariadb":           {"-h --host", "-e --execute"},
	"sqlcmd":            {"-S", "-Q -q"},
	"cqlsh":             {"", "-e --execute"},
	"clickhouse-client": {"-h --host", "-q --query"},
	"mongosh":           {"--host -h", "--eval"},
	"mongo":             {"--host -h", "--eval"},
	"beeline":           {"-u", "-e"},
	"impala-shell":      {"-i --impalad", "-q --query"},
	"trino":             {"--server", "--execute"},
	"presto":            {"--server", "--execute"},
	"presto-cli":        {"--server", "--execute"},
	"cockroach":         {"--host --url", "-e --execute"},
	"usql":              {"", "-c --command"},
	"redis-cli":         {"-h -u", ""},
	"valkey-cli":        {"-h -u", ""},
}

var (
	// asksStatement matches statements that only ask, isStatement others.
	asksStatement = lazyregexp.New(`(?i)^\s*(select|show|explain|describe|desc|with|table|values|list|help|use|set|\\(d|l|z|s|c|x|q|h|t|p|r|e|\?|conninfo|timing|watch|g)\w*\+?|--|/\*|from|fetch|print|exit|quit|check|pragma|begin|rollback)\b|^\s*(\\\?|--|/\*)|^\s*$`)
	// changesMongo matches what changes something in the language of MongoDB's shell.
	changesMongo = lazyregexp.New(`\.(insert|update|replace|delete|remove|drop|create|rename|bulkWrite|save|grant|revoke|shutdown|kill|findAndModify|findOneAnd(Update|Replace|Delete)|step|add|setProfiling|compact|convertToCapped|reIndex)\w*\(`)
	// asksRedis are commands of Redis that only ask; two words for those that others have as their first.
	asksRedis = words(`get mget getrange strlen keys scan info ping echo time type ttl pttl exists llen lrange lindex lpos smembers scard sismember
		srandmember sscan hget hmget hgetall hkeys hvals hlen hexists hscan zrange zrangebyscore zrevrange zcard zcount zscore zrank zscan dbsize monitor
		memory slowlog latency lastsave role object command pfcount bitcount getbit xrange xrevrange xlen xread xinfo xpending geopos geodist georadius
		geosearch subscribe psubscribe pubsub dump randomkey wait help auth select hello lolwut touch`)
)

// changesDatabase reports whether a client gives more than a question to a database on another machine. What is
// read from a file or from a command that is no text is not known.
func changesDatabase(c *call) bool {
	client, ok := clients[c.Name]
	if !ok || !c.reachesAway(strings.Fields(client.host)) {
		return false
	}
	redis := c.Name == "redis-cli" || c.Name == "valkey-cli"
	if redis {
		if ws := c.operands("-h -p -a -n -u -i -r --user --pass --cacert --cert --key --pattern --count --rdb --functions-rdb"); len(ws) > 0 {
			verb := strings.ToLower(ws[0].Value)
			asks := asksRedis[verb] || len(ws) > 1 && askRedisGroups[verb] && askRedisOf(ws[1].Value)
			return !asks && !ws[0].Dynamic
		}
		if texts := c.fedTexts(); len(texts) > 0 {
			return slices.ContainsFunc(texts, changesRedis)
		}
		return c.Flag("--pipe") || c.isFed() && !c.Flag("--scan", "--stat", "--rdb", "--latency", "--bigkeys", "--memkeys", "--hotkeys")
	}
	if c.Flag("--version", "--help", "-V", "-?", "-l", "--list") {
		return false
	}
	if c.Flag("-f", "--file", "-i", "--input-file") && c.Name != "mongosh" && c.Name != "mongo" {
		return true
	}
	if strings.HasPrefix(c.Name, "mongo") && matching(`\.m?js$`)(c) {
		return true
	}
	if said := c.stated(client.statement); len(said) > 0 {
		return slices.ContainsFunc(said, func(text string) bool { return changesBy(c.Name, text) })
	}
	if texts := c.fedTexts(); len(texts) > 0 {
		return slices.ContainsFunc(texts, func(text string) bool { return changesBy(c.Name, text) })
	}
	return c.isFed()
}

// bundled matches short flags in one word, the last of which may have a value.
var bundled = lazyregexp.New(`^-[a-zA-Z]{2,6}$`)

// stated returns the statements that a client is given by flags: -c 'select 1', --command='select 1', -tAc 'select 1'.
func (c *call) stated(flags string) (texts []string) {
	for i, w := range c.Args {
		before := ""
		if i > 0 {
			before = c.Args[i-1].Value
		}
		name, value, equals := strings.Cut(w.Value, "=")
		switch {
		case strings.Contains(" "+flags+" ", " "+before+" "), c.Name != "mongosh" && c.Name != "mongo" && bundled.MatchString(before) && strings.Contains(" "+flags+" ", " -"+before[len(before)-1:]+" "):
			texts = append(texts, w.Value)
		case equals && strings.HasPrefix(name, "--") && strings.Contains(" "+flags+" ", " "+name+" "):
			texts = append(texts, value)
		case len(w.Value) > 2 && strings.ContainsRune(w.Value, ' ') && strings.Contains(" "+flags+" ", " "+w.Value[:2]+" "):
			texts = append(texts, w.Value[2:]) // -e'select 1'
		}
	}
	return texts
}

// givesStatement reports whether bq query, whose data are always on other machines, is given more than a question.
func givesStatement(c *call) bool {
	ws := c.operands("--destination_table --location --project_id --max_rows -n --parameter --label --batch --format")
	if slices.ContainsFunc(c.fedTexts(), func(text string) bool { return changesBy(c.Name, text) }) {
		return true
	}
	return len(ws) > 0 && !ws[len(ws)-1].Dynamic && changesBy(c.Name, strings.TrimPrefix(ws[len(ws)-1].Value, "query"))
}

// changesAttached reports whether DuckDB changes a database of another machine that it is told to attach.
func changesAttached(c *call) bool {
	texts := c.fedTexts()
	for _, w := range c.Args {
		texts = append(texts, w.Value)
	}
	for _, text := range texts {
		for _, m := range attached.FindAllStringSubmatch(text, -1) {
			if host := hostOf.FindStringSubmatch(m[1]); host != nil && local(host[1]) || strings.Contains(m[1], "://") && loopback(m[1]) {
				continue
			}
			for statement := range strings.SplitSeq(text, ";") {
				if isChange.MatchString(statement) && strings.Contains(strings.SplitN(strings.ToLower(statement), "select", 2)[0], strings.ToLower(m[2])+".") {
					return true
				}
			}
		}
	}
	return false
}

// attached matches how a database of a server is attached, by its address and the name that it gets.
var attached = lazyregexp.New(`(?i)\battach\s[^;]*?'((?:md|mysql|postgres(?:ql)?):[^']*)'\s+as\s+(\w+)`)

// deletesRowsHere reports whether a client does no more harm to a database of this machine than to delete chosen rows.
func deletesRowsHere(c *call) bool {
	if !namesThisHost(c) {
		return false
	}
	w, ok := c.FlagValue(strings.Fields(clients[c.Name].statement)...)
	return ok && !w.Dynamic && chosenRows.MatchString(w.Value)
}

// chosenRows matches one statement that deletes rows by a condition.
var chosenRows = lazyregexp.New(`(?is)^\s*delete\s+from\s+\S+\s+where\s[^;]*;?\s*$`)

// namesThisHost reports whether a client is told by a flag that its host is this machine.
func namesThisHost(c *call) bool {
	w, ok := c.FlagValue(strings.Fields(clients[c.Name].host)...)
	return ok && !w.Dynamic && loopback(w.Value) && len(c.Via) == 0
}

// askRedisOf reports whether the second word of a command of Redis asks.
func askRedisOf(w string) bool {
	return words("get list info id getname nodes slots shards myid whoami cat help log users getuser no-evict")[strings.ToLower(w)]
}

// changesRedis reports whether one of some lines is a command of Redis that does more than ask.
func changesRedis(text string) bool {
	for line := range strings.Lines(text) {
		ws := strings.Fields(strings.ToLower(line))
		if len(ws) > 0 && !asksRedis[ws[0]] && !(len(ws) > 1 && askRedisGroups[ws[0]] && askRedisOf(ws[1])) {
			return true
		}
	}
	return false
}

// changesBy reports whether one of some statements does more than ask.
func changesBy(client, text string) bool {
	if client == "mongosh" || client == "mongo" {
		return changesMongo.MatchString(text)
	}
	if acts.MatchString(text) {
		return true
	}
	for statement := range strings.SplitSeq(literals.ReplaceAllString(text, "''"), ";") {
		if !asksStatement.MatchString(statement) {
			return true
		}
	}
	return false
}

// acts matches what a question does besides asking.
var acts = lazyregexp.New(`(?i)\b(pg_(terminate|cancel|reload|switch|drop|promote|rotate|create|logical_emit|replication\w*_(drop|create|advance))\w*|setval|lo_unlink|dblink_exec)\s*\(|\bset\s+(global|persist)\b|\binto\s+(outfile|dumpfile)\b|\\copy\s+[\w."]+\s*(\([^)]*\)\s*)?from\b`)

// reachesAway reports whether a client's host, in a flag or in an address among its words, is another machine.
func (c *call) reachesAway(flags []string) bool {
	if w, ok := c.FlagValue(flags...); ok && len(flags) > 0 {
		host := w.Value
		if _, rest, ok := strings.Cut(strings.TrimPrefix(host, "tcp:"), "jdbc:"); ok {
			_, host, _ = strings.Cut(rest, "//")
		}
		host = strings.TrimPrefix(host, "tcp:")
		return !w.Dynamic && !strings.HasPrefix(host, "/") && host != "." && !loopback(host)
	}
	for _, w := range c.Args {
		if w.Dynamic && ofProduction.MatchString(w.Value) {
			return true
		}
		if host, _, ok := strings.Cut(w.Value, "/"); ok && c.Name == "mongo" && isHostName.MatchString(host) {
			return !loopback(host)
		}
		if host := hostOf.FindStringSubmatch(w.Value); host != nil && c.Name == "psql" {
			return !local(host[1])
		}
		scheme, rest, ok := strings.Cut(strings.TrimPrefix(w.Value, "jdbc:"), "://")
		if ok && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+") == "" && !strings.HasPrefix(rest, "/") {
			return !loopback(w.Value)
		}
	}
	away, _ := c.storeVariable()
	return away
}

// ofProduction matches a variable whose name says that it holds an address of what is in production.
var ofProduction = lazyregexp.New(`^\$\{?(\w+_)?PROD(UCTION)?(_\w+)?\}?$`)

// storeVariable reports whether a variable of the line names the machine of a database, and whether that is another one.
func (c *call) storeVariable() (away, ok bool) {
	for _, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		if !storeVariables.MatchString(v.Name) || v.Unknown || v.Value.Dynamic {
			continue
		}
		host := v.Value.Value
		if _, rest, ok := strings.Cut(host, "://"); ok {
			host, _, _ = strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
		}
		return isHostName.MatchString(host) && !loopback(host), true
	}
	return false, false
}

// storeVariables matches the names of such variables.
var storeVariables = lazyregexp.New(`^((\w+_)?DATABASE_(URL|URI|HOST)|(DB|PG|MYSQL|POSTGRES(QL)?|MONGO(DB)?|REDIS)_?(HOST|HOSTADDR|URL|URI|DSN))$`)
