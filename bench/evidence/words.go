package main

// The vocabulary of the generator. Everything has terms for the log and other terms for the
// questions, since people ask in their own words. A question shares a word or two with the user's
// description of a trouble in the log, and in three of five cases the component's name. With the
// program's output and the change it shares nothing except, in some cases, the name in a path. A
// finding repeats the user's words in every second case.

// component is a part of the software that agents work on.
type component struct {
	// name is what events call the component, asked what two in five questions call it.
	name, asked string
	dir         string
}

var components = []component{
	{"checkout", "the payment page", "services/checkout"},
	{"image uploader", "sending pictures", "services/uploader"},
	{"search indexer", "the lookup of products", "services/indexer"},
	{"session store", "staying logged in", "lib/sessions"},
	{"mail sender", "outgoing letters", "services/mailer"},
	{"price importer", "the nightly tariff load", "jobs/prices"},
	{"report builder", "the monthly figures", "jobs/reports"},
	{"auth gateway", "signing in", "services/auth"},
	{"stock sync", "the count of goods", "jobs/stock"},
	{"coupon engine", "rebates", "lib/coupons"},
	{"feed parser", "reading suppliers' files", "lib/feeds"},
	{"log shipper", "collecting what programs print", "agents/shipper"},
	{"map tiles", "the store finder", "services/tiles"},
	{"chat relay", "talking to support", "services/relay"},
	{"invoice renderer", "bills as documents", "services/invoices"},
	{"queue worker", "background jobs", "services/worker"},
}

// trouble is a way in which a component fails.
type trouble struct {
	// told is the user's description in the log, printed the program's output, and asked the
	// description in the question.
	told, printed, asked string
	// cause is what the agent finds, fix what it changes, and file the file that it changes.
	cause, fix, file string
}

var troubles = []trouble{
	{"times out under load", "context deadline exceeded while dialing 10.2.4.7:5432", "gives up under load", "The pool hands out eight connections and the ninth caller waits for ever.", "MaxOpenConns: 64", "pool.go"},
	{"returns 500 for some customers", "panic: runtime error: index out of range [3] with length 3", "breaks for some customers", "The loop runs one past the last line item.", "for i := 0; i < len(items); i++", "items.go"},
	{"shows wrong totals", "expected 19.99, got 19.989999999999998", "has its totals off by a cent", "Amounts are kept as float64 and summed.", "type Amount int64 // in cents", "amount.go"},
	{"leaks memory", "fatal error: cannot allocate 4096 bytes, resident set 7912 MiB", "eats memory until it is killed", "The cache of rendered templates is never trimmed.", "lru.New(512)", "cache.go"},
	{"writes duplicates", "ERROR: duplicate key value violates unique constraint \"orders_pkey\"", "keeps duplicates of one order", "A retry sends the message without its idempotency token.", "req.Header.Set(\"Idempotency-Key\", id)", "retry.go"},
	{"fails on umlauts", "invalid byte sequence for encoding \"UTF8\": 0xfc", "chokes on umlauts and other foreign letters", "The reader takes Latin-1 files for Unicode.", "charmap.ISO8859_1.NewDecoder()", "decode.go"},
	{"is slow since the upgrade", "slow query: 14203 ms, Seq Scan on positions", "became sluggish with the upgrade", "The new version dropped the compound index.", "CREATE INDEX positions_by_owner ON positions (owner, day)", "schema.sql"},
	{"hangs at shutdown", "goroutine 88 [chan send, 12 minutes]", "never finishes its shutdown", "Nobody reads the results channel once the context ends.", "case <-ctx.Done(): return ctx.Err()", "run.go"},
	{"loses messages", "offset 88213 committed before handle returned", "drops messages", "Acknowledgement is given before the work is done.", "defer msg.Ack()", "consume.go"},
	{"rejects valid tokens", "token is not valid yet: nbf 1763719203", "turns away good tokens", "The clocks of two hosts differ by ninety seconds.", "jwt.WithLeeway(2 * time.Minute)", "verify.go"},
	{"floods the disk", "write /var/log/app.out: no space left on device", "fills up the disk", "Debug output was left on in production.", "level: warn", "logging.yaml"},
	{"cannot trust its peer", "x509: certificate signed by unknown authority", "does not trust the other side", "The base picture no longer ships the bundle of roots.", "RUN apk add ca-certificates", "Dockerfile"},
	{"double-charges", "authorization 4471 captured again", "takes the charges two times", "The lock expires before the bank answers.", "lockTTL = 90 * time.Second", "lock.go"},
	{"shows yesterday's data", "Age: 86399, X-Cache: HIT", "has the data of the day before", "The edge keeps pages although the header says otherwise.", "Cache-Control: no-store", "headers.go"},
	{"crashes on empty input", "nil pointer dereference at parse.go:41", "falls over when the input has nothing in it", "A missing body yields no object and the caller does not look.", "if doc == nil { return ErrEmpty }", "parse.go"},
	{"picks the wrong time zone", "want 2026-03-29T03:30+02:00, got 2026-03-29T02:30+01:00", "is an hour out, in another zone", "Local time is stored without its offset.", "time.LoadLocation(\"Europe/Berlin\")", "clock.go"},
}

// fact is a statement that holds until its value changes.
type fact struct {
	subject, predicate string
	// stated has %s for the value; restated is a paraphrase.
	stated, restated string
	asked            string
	values           []string
}

var facts = []fact{
	{"staging database", "port", "The staging database listens on port %s.", "Reach Postgres of staging at :%s.", "Where do I connect to for the test Postgres?", []string{"5433", "5440", "6432", "15432"}},
	{"release branch", "name", "Releases are cut from branch %s.", "Tag from %s when we ship.", "From which branch do customers get their version?", []string{"main", "release/9", "stable", "trunk"}},
	{"nightly build", "hour", "The nightly build starts at %s.", "CI begins its long run at %s.", "At what hour does the nightly compile begin?", []string{"01:30", "02:15", "04:00", "23:45"}},
	{"API limit", "requests a minute", "The API allows %s requests a minute.", "Callers get 429 after %s calls in sixty seconds.", "How many requests may a client send before the API throttles it?", []string{"600", "900", "1200", "300"}},
	{"on-call", "engineer", "This week %s is on call.", "Page %s if it burns.", "Whom do I page in an emergency?", []string{"Priya", "Jonas", "Marta", "Kenji"}},
	{"trace retention", "days", "Traces are kept for %s days.", "Jaeger forgets spans after %s days.", "How far back can I look at traces?", []string{"7", "14", "30", "3"}},
	{"base image", "tag", "Containers are built from alpine:%s.", "FROM alpine:%s is what we use.", "Which alpine do our pods start out from?", []string{"3.18", "3.19", "3.20", "3.21"}},
	{"feature flag new-cart", "state", "The flag new-cart is %s.", "new-cart: %s in LaunchDarkly.", "Do customers see new-cart yet?", []string{"off", "on for 5 %", "on for half", "on"}},
	{"deploy window", "day", "Deploys go out on %s.", "We only ship on %s.", "On which weekday do deploys happen?", []string{"Monday", "Tuesday", "Wednesday", "Thursday"}},
	{"object storage", "bucket", "Uploads land in bucket %s.", "S3 target is %s.", "Where do uploads of customers end up?", []string{"acme-in", "acme-uploads-2", "media-eu", "media-frankfurt"}},
	{"minimum Node", "version", "The front end needs Node %s.", "engines.node is >=%s.", "Which Node must I have installed?", []string{"16", "18", "20", "22"}},
	{"feature freeze", "date", "Feature freeze is on %s.", "No new features from %s on.", "Until when can I still add a feature?", []string{"3 March", "10 March", "17 March", "24 March"}},
}

// errands are other calls of agents, whose results nobody asks about.
var errands = []struct{ command, result string }{
	{"git status --short", " M %s/%s\n?? notes.txt"},
	{"ls %[1]s", "README.md\nmain.go\n%[2]s\ntestdata"},
	{"git log --oneline -3", "9fceb02 bump dependencies\n1b2c3d4 tidy %s\n77aa001 touch %s"},
	{"grep -rn TODO %[1]s", "%[1]s/%[2]s:12: // TODO ask whether this is still needed"},
	{"wc -l %[1]s/%[2]s", "     214 %[1]s/%[2]s"},
	{"make lint", "checked %s, %s: no findings"},
	{"df -h /", "Filesystem      Size  Used Avail Use%% Mounted on\n/dev/vda1        80G   31G   46G  41%% /"},
}

// talk is unrelated conversation. It contains words of the questions in other contexts.
var talk = []string{
	"I go through %s line by line before touching anything.",
	"Documented how %s is deployed; nothing else changed.",
	"Renamed a few variables in %s for readability.",
	"Could you also describe %s in the handbook? People keep asking what it does under load, and what if the disk is full.",
	"The handbook now says what to do if %s breaks, turns sluggish after an upgrade, or gives up.",
	"Let us talk about the money and the machine for %s next week.",
	"Reviewed the pull request about %s: two nits, approved.",
	"%s: moved the tests into their own folder.",
	"Wrote down which customers use %s and since when.",
	"The design of %s is fine; no need to stop it or take it apart.",
}

// dead are guesses that lead nowhere.
var dead = []string{
	"It may be the network. I measure the round trip.",
	"Perhaps the last deploy is to blame; I look at its diff.",
	"I suspect the configuration and compare it with staging.",
	"First I rule out the disk.",
}
