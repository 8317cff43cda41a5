package access

import (
	"net/http"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Need is what an operation asks of who asks for it.
type Need int

// From the least to the most.
const (
	// Nothing: a prober has no token.
	Nothing Need = iota
	// Admitted is anyone whom the gate lets in.
	Admitted
	// Granted is who is granted the operation's kind of things, and the operator.
	Granted
	// Operator alone.
	Operator
)

// Why operations are the operator's.
const (
	ofCommands = "commands belong to no tenant but the default one"
	ofCode     = "code belongs to no tenant but the default one"
	ofSpans    = "spans belong to no tenant but the default one"
	ofAll      = "it tells of, or works on, what is everybody's"
)

// operation is one operation, or those below a path, and what it needs.
type operation struct {
	// pattern is as in http.ServeMux. One that ends in a slash holds for what is below it
	// and has no line of its own.
	pattern string
	need    Need
	why     string // of Granted and Operator
	grant   string // of Granted
}

// operations are all that there are. Whatever is not here is the operator's; a test holds
// the list against the API's own description.
var operations = []operation{
	{"GET /healthz", Nothing, "", ""},
	{"GET /readyz", Nothing, "", ""},

	{"GET /{$}", Admitted, "", ""},
	{"GET /docs", Admitted, "", ""},
	{"GET /openapi.json", Admitted, "", ""},
	{"GET /openapi.yaml", Admitted, "", ""},
	{"GET /openapi-3.0.json", Admitted, "", ""},
	{"GET /openapi-3.0.yaml", Admitted, "", ""},
	{"/", Admitted, "", ""}, // there is nothing there

	{"POST /v1/query", Admitted, "", ""},  // answers from what the principal sees
	{"GET /v1/objects", Admitted, "", ""}, // what the principal sees
	{appendEvents, Admitted, "", ""},      // of agents, and its own: Own

	{"POST /v1/find", Granted, ofCommands, schemas.GrantCommands},
	{"POST /v1/why", Granted, ofCommands, schemas.GrantCommands},
	{"POST /v1/stitch", Granted, ofCommands, schemas.GrantCommands},
	{"POST /v1/diff", Granted, ofCommands, schemas.GrantCommands},
	{"POST /v1/insights", Granted, ofCommands, schemas.GrantCommands},
	{"GET /v1/intents", Operator, ofCommands, ""},
	{"GET /v1/intents/{id}", Operator, ofCommands, ""},
	{"POST /v1/code/", Granted, ofCode, schemas.GrantCode},
	{"POST /v1/runtime/", Granted, ofSpans, schemas.GrantRuntime},
	{Spans, Granted, ofSpans, schemas.GrantIngest},

	{"GET /v1/status", Operator, ofAll, ""},
	{"POST /v1/forget", Granted, ofAll, schemas.GrantErase}, // of agents, what they appended
	{"POST /v1/retain", Operator, ofAll, ""},
	{"POST /v1/rebuild", Operator, ofAll, ""},
	{"POST /v1/verify", Operator, ofAll, ""},
	{"POST /v1/fsck", Operator, ofAll, ""},
	{"POST /v1/backup", Operator, ofAll, ""},
	{"POST /v1/grow", Operator, ofAll, ""},
	{"GET /metrics", Operator, ofAll, ""},
}

// Spans is the operation of the receivers of spans.
const Spans = "POST /v1/traces"

// appendEvents is the operation that appends events over HTTP.
const appendEvents = "POST /v1/events"

// IngestTopics are the topics, without prefix, whose events a token that was granted
// ingest may append. What agents say is another token's, and of one agent.
func IngestTopics() []string {
	return []string{schemas.TopicCommands, schemas.TopicCommits, schemas.TopicSpans}
}

// lookup finds the operation of a pattern.
func lookup(pattern string) (operation, bool) {
	var below operation
	for _, o := range operations {
		if o.pattern == pattern {
			return o, true
		}
		if strings.HasSuffix(o.pattern, "/") && len(o.pattern) > 1 && strings.HasPrefix(pattern, o.pattern) {
			below = o
		}
	}
	if below.pattern != "" {
		return below, true
	}
	return operation{pattern, Operator, ofAll, ""}, false
}

// NeedOf is what the operation of a pattern needs, and whether the table has it: what it
// has not needs the operator.
func NeedOf(pattern string) (need Need, listed bool) {
	o, listed := lookup(pattern)
	return o.need, listed
}

// allow refuses a principal the operation of a pattern that is not its own to ask for.
func allow(p schemas.Principal, pattern string) *Refusal {
	o, _ := lookup(pattern)
	if p.Ingests() && !p.Operator {
		if pattern == Spans || pattern == appendEvents {
			return nil
		}
		return &Refusal{http.StatusForbidden, "the token may not: it is granted ingest alone, to append spans (OTLP) and events of topics " + strings.Join(IngestTopics(), ", ") + " (POST /v1/events)"}
	}
	may := p.Operator || o.need <= Admitted
	why := o.why
	if o.need == Granted {
		// What commands are there is told of all workspaces at once.
		may = may || o.grant == schemas.GrantErase && p.Erases() || p.Granted(o.grant) && (o.grant != schemas.GrantCommands || p.InWorkspace("*"))
		why += "; the operator can grant " + o.grant + " to a token"
		if o.grant == schemas.GrantCommands {
			why += " of all workspaces"
		}
	}
	if may {
		return nil
	}
	return &Refusal{http.StatusForbidden, "the token may not: " + why + "; it may ask POST /v1/query and GET /v1/objects, and append its agent's events to POST /v1/events"}
}
