package access

import (
	"net/http"
	"strings"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// Need is what an operation requires of a principal.
type Need int

// The needs, in ascending order.
const (
	// Nothing requires no token: probes have none.
	Nothing Need = iota
	// Admitted requires any valid token.
	Admitted
	// Granted requires the grant that the operation names, or the operator.
	Granted
	// Operator requires the operator's token.
	Operator
)

// The reasons why operations require a grant or the operator.
const (
	ofCommands = "commands belong to no tenant but the default one"
	ofCode     = "code belongs to no tenant but the default one"
	ofSpans    = "spans belong to no tenant but the default one"
	ofAll      = "it tells of, or works on, what is everybody's"
)

// operation is one operation, or all operations below a path, and what it requires.
type operation struct {
	// pattern has the syntax of http.ServeMux. A pattern that ends in a slash also covers the
	// patterns below it that have no entry of their own.
	pattern string
	need    Need
	why     string // for Granted and Operator
	grant   string // for Granted
}

// operations lists all operations. An operation that is not listed requires the operator. A test
// compares the list with the API's own description.
var operations = append(questionsAboutCommands(), []operation{
	{"GET /healthz", Nothing, "", ""},
	{"GET /readyz", Nothing, "", ""},

	{"GET /{$}", Admitted, "", ""},
	{"GET /docs", Admitted, "", ""},
	{"GET /openapi.json", Admitted, "", ""},
	{"GET /openapi.yaml", Admitted, "", ""},
	{"GET /openapi-3.0.json", Admitted, "", ""},
	{"GET /openapi-3.0.yaml", Admitted, "", ""},
	{"/", Admitted, "", ""}, // nothing is served here

	{"POST /v1/query", Admitted, "", ""},  // answers only from what the principal sees
	{"GET /v1/objects", Admitted, "", ""}, // returns only what the principal sees
	{appendEvents, Admitted, "", ""},      // Own checks that the events are the agent's own

	{"GET /v1/intents", Operator, ofCommands, ""},
	{"GET /v1/intents/{id}", Operator, ofCommands, ""},
	{"POST /v1/code/", Granted, ofCode, schemas.GrantCode},
	{"POST /v1/runtime/", Granted, ofSpans, schemas.GrantRuntime},
	{Spans, Granted, ofSpans, schemas.GrantIngest},

	{"GET /v1/status", Operator, ofAll, ""},
	{"POST /v1/forget", Granted, ofAll, schemas.GrantErase}, // for agents: only what they appended
	{"POST /v1/retain", Operator, ofAll, ""},
	{"POST /v1/rebuild", Operator, ofAll, ""},
	{"POST /v1/verify", Operator, ofAll, ""},
	{"POST /v1/fsck", Operator, ofAll, ""},
	{"POST /v1/backup", Operator, ofAll, ""},
	{"POST /v1/grow", Operator, ofAll, ""},
	{"GET /metrics", Operator, ofAll, ""},
}...)

// questionsAboutCommands returns the operations of the questions in query/commands, which have
// no path in common.
func questionsAboutCommands() (all []operation) {
	for _, path := range commands.Questions.Paths() {
		all = append(all, operation{"POST /v1/" + path, Granted, ofCommands, schemas.GrantCommands})
	}
	return all
}

// Spans is the pattern of the OTLP receivers.
const Spans = "POST /v1/traces"

// appendEvents is the pattern of the endpoint that appends events.
const appendEvents = "POST /v1/events"

// IngestTopics returns the topics, without prefix, to which a token with the grant ingest may
// append. Agents' events need a token with an agent.
func IngestTopics() []string {
	return []string{schemas.TopicCommands, schemas.TopicCommits, schemas.TopicSpans}
}

// lookup returns the operation of a pattern and whether the table covers it.
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

// NeedOf returns what the operation of a pattern requires and whether the table lists it. An
// operation that is not listed requires the operator.
func NeedOf(pattern string) (need Need, listed bool) {
	o, listed := lookup(pattern)
	return o.need, listed
}

// allow returns a refusal if a principal may not use the operation of a pattern, else nil.
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
		// Command queries cannot be limited to some workspaces, so the grant commands suffices only
		// for a token of all workspaces.
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
