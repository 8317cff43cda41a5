package runtime

import (
	"context"

	"github.com/recountdb/recount/query/question"
)

// Question is one kind of question about a running system.
type Question[Q, R any] = question.Question[Sources, Q, R]

// Questions has all of them, in the order of their declaration below.
var Questions question.List[Sources]

func newQuestion[Q interface{ check() error }, R any](name, summary, description string, answer func(context.Context, Sources, Q) (R, error)) Question[Q, R] {
	return question.Add(&Questions, question.New("runtime/"+name, summary, description, Q.check, answer))
}

// These are the questions about a running system. docs/ARCHITECTURE.md describes what else a new
// one needs.
var (
	TrafficQuestion    = newQuestion("traffic", "What is asked of services", "Counts what each service serves, by route, procedure, topic or table: how often, how often it fails, how long it takes, and the code that handles it.", TrafficOf)
	EdgesQuestion      = newQuestion("edges", "Who calls whom", "Lists the calls between services as spans show them, each with how sure it is that it happens now, and, if asked, whether the code declares it.", EdgesOf)
	ServicesQuestion   = newQuestion("services", "The service map", "Lists services with their versions and the repository each is of, and the calls between them and to what sends no spans.", ServicesOf)
	DeadRoutesQuestion = newQuestion("dead-routes", "What is served and never asked for", "Lists routes and procedures of the code that no span shows since a time, apart from those whose service sends no spans at all.", DeadRoutes)
	StatsQuestion      = newQuestion("stats", "What is known of what runs", "Counts services, operations and calls, and how much of that is joined to code, by which rule.", StatsOf)
	TraceQuestion      = newQuestion("trace", "One trace as a tree", "Reads a trace's spans from the log and tells each with its duration, its status, the code that handles it, who changed that last, and the deploy or command before it.", TraceOf)
	WhyQuestion        = newQuestion("why", "What led to a failing span", "Ranks the commits and commands that most plausibly led to a failing span, each with the evidence and its weight.", WhyOf)
)
