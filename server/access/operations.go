package access

import (
	"net/http"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// Permission is what an operation requires of a principal.
type Permission int

// The permissions, in ascending order.
const (
	// Public requires no token: probes have none.
	Public Permission = iota
	// Authenticated requires any valid token.
	Authenticated
	// Scoped requires the grant that the operation names, or the operator.
	Scoped
	// Admin requires the operator's token.
	Admin
)

// The reasons why operations require a grant or the operator.
const (
	ofCommands = "commands belong to the default tenant only"
	ofCode     = "code belongs to the default tenant only"
	ofSpans    = "spans belong to the default tenant only"
	executes   = "it executes commands on the server's machine"
	ofAll      = "the operation concerns data of all tenants"
)

// operation is one operation, or all operations below a path, and what it requires.
type operation struct {
	// pattern has the syntax of http.ServeMux. A pattern that ends in a slash also covers the
	// patterns below it that have no entry of their own.
	pattern string
	need    Permission
	why     string // for Scoped and Admin
	grant   string // for Scoped
}

// operations lists all operations. An operation that is not listed requires the operator. A test
// compares the list with the API's own description.
var operations = slices.Concat(questionsAboutCommands(), questionsForEvidence(), page(), []operation{
	{"GET /healthz", Public, "", ""},
	{"GET /readyz", Public, "", ""},

	{"POST /login", Public, "", ""},  // checks a token itself
	{"POST /logout", Public, "", ""}, // ends the session whose cookie it has
	{"GET /session", Authenticated, "", ""},
	{"GET /docs", Public, "", ""}, // the description of the API holds no data
	{"GET /openapi.json", Public, "", ""},
	{"GET /openapi.yaml", Public, "", ""},
	{"GET /openapi-3.0.json", Public, "", ""},
	{"GET /openapi-3.0.yaml", Public, "", ""},
	{"/", Authenticated, "", ""}, // nothing is served here

	{"POST /v1/recall", Authenticated, "", ""},    // answers only from what the principal sees
	{"POST /v1/brief", Authenticated, "", ""},     // likewise
	{"POST /v1/look", Authenticated, "", ""},      // likewise
	{"POST /v1/sessions", Authenticated, "", ""},  // likewise
	{"GET /v1/sessions", Authenticated, "", ""},   // likewise
	{"GET /v1/objects", Authenticated, "", ""},    // returns only what the principal sees
	{"POST /v1/feedback/", Authenticated, "", ""}, // answers only from what the principal sees
	{giveFeedback, Authenticated, "", ""},         // Own checks that it is the agent's own
	{appendEvents, Authenticated, "", ""},         // Own checks that the events are the agent's own

	{"/mcp", Authenticated, "", ""}, // each question of a tool is checked by itself

	{"POST /v1/replay/plan", Scoped, ofCommands, schemas.GrantCommands},
	{"POST /v1/replay/runs", Scoped, ofCommands, schemas.GrantCommands},
	{"POST /v1/replay/diff", Scoped, ofCommands, schemas.GrantCommands},
	{"POST /v1/replay/", Admin, executes, ""}, // run, resume, apply, discard, cancel, answer
	{"GET /v1/intents", Scoped, ofCommands, schemas.GrantCommands},
	{showCommand, Scoped, ofCommands, schemas.GrantCommands}, // answers only about the principal's workspaces
	{"GET /v1/events/", Authenticated, "", ""},               // answers only about what the principal sees
	{"GET /v1/changes", Authenticated, "", ""},               // tells only of topics that the principal may ask about
	{"GET /v1/log", Admin, ofAll, ""},
	{"GET /v1/log/", Admin, ofAll, ""},
	{"GET /v1/repositories", Scoped, ofCode, schemas.GrantCode},
	{"POST /v1/code/", Scoped, ofCode, schemas.GrantCode},
	{"POST /v1/context", Scoped, ofCode, schemas.GrantCode},
	{"POST /v1/runtime/", Scoped, ofSpans, schemas.GrantRuntime},
	{Spans, Scoped, ofSpans, schemas.GrantIngest},

	{"GET /v1/status", Admin, ofAll, ""},
	{"POST /v1/forget", Scoped, ofAll, schemas.GrantErase}, // for agents: only what they appended
	{"POST /v1/retain", Admin, ofAll, ""},
	{"POST /v1/rebuild", Admin, ofAll, ""},
	{"POST /v1/verify", Admin, ofAll, ""},
	{"POST /v1/fsck", Admin, ofAll, ""},
	{"POST /v1/backup", Admin, ofAll, ""},
	{"POST /v1/grow", Admin, ofAll, ""},
	{"GET /metrics", Admin, ofAll, ""},
})

// page returns the operations of the web page, which holds no data: package web lists its views.
func page() (all []operation) {
	for _, path := range []string{"{$}", "assets", "ask", "narrative", "why", "command", "code", "runtime", "agents", "log", "insights"} {
		all = append(all, operation{"GET /" + path, Public, "", ""}, operation{"GET /" + path + "/", Public, "", ""})
	}
	return all
}

// questionsAboutCommands returns the operations of the questions in query/commands, which have
// no path in common.
func questionsAboutCommands() (all []operation) {
	for _, path := range commands.Questions.Paths() {
		all = append(all, operation{"POST /v1/" + path, Scoped, ofCommands, schemas.GrantCommands})
	}
	return all
}

// questionsForEvidence returns the operations of the questions in query/evidence, which answer only
// from what the principal sees.
func questionsForEvidence() (all []operation) {
	for _, path := range evidence.Questions.Paths() {
		all = append(all, operation{"POST /v1/" + path, Authenticated, "", ""})
	}
	return all
}

// Spans is the pattern of the OTLP receivers.
const Spans = "POST /v1/traces"

// appendEvents is the pattern of the endpoint that appends events.
const appendEvents = "POST /v1/events"

// showCommand is the pattern of the endpoint that answers about one command.
const showCommand = "GET /v1/intents/{id}"

// ofWorkspaces are the patterns of the questions about commands that are answered for some workspaces
// too: about one command of them, and lists and counts of one of them at a time (decision 139).
var ofWorkspaces = []string{showCommand, "POST /v1/find", "POST /v1/timeline", "POST /v1/stats", "POST /v1/insights"}

// giveFeedback is the pattern of the endpoint that appends feedback.
const giveFeedback = "POST /v1/feedback"

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
	return operation{pattern, Admin, ofAll, ""}, false
}

// PermissionOf returns what the operation of a pattern requires and whether the table lists it. An
// operation that is not listed requires the operator.
func PermissionOf(pattern string) (need Permission, listed bool) {
	o, listed := lookup(pattern)
	return o.need, listed
}

// Allow returns a refusal if a principal may not use the operation of a pattern, else nil.
func Allow(p schemas.Principal, pattern string) *AuthError {
	o, _ := lookup(pattern)
	if p.Ingests() && !p.Operator {
		if pattern == Spans || pattern == appendEvents {
			return nil
		}
		return &AuthError{http.StatusForbidden, "the token may not do this: its only grant is ingest, for appending spans (OTLP) and events of the topics " + strings.Join(IngestTopics(), ", ") + " (POST /v1/events)"}
	}
	may := p.Operator || o.need <= Authenticated
	why := o.why
	if o.need == Scoped {
		// Queries that rank commands or walk from one to another cannot be limited to some workspaces,
		// so for them the grant commands suffices only for a token of all workspaces.
		one := o.grant != schemas.GrantCommands || slices.Contains(ofWorkspaces, pattern) || p.InWorkspace("*")
		may = may || o.grant == schemas.GrantErase && p.Erases() || p.Granted(o.grant) && one
		why += "; the operator can grant " + o.grant + " to a token"
		if o.grant == schemas.GrantCommands {
			why += " of all workspaces"
		}
	}
	if may {
		return nil
	}
	return &AuthError{http.StatusForbidden, "the token may not do this: " + why + "; it may use POST /v1/query, /v1/remembered and /v1/announced and GET /v1/objects, and append its agent's events with POST /v1/events"}
}
