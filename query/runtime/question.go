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
	TrafficQuestion    = newQuestion("traffic", "List the operations of services", "Lists the operations of each service by route, procedure, topic or table, with counts, failures, latencies and the code that handles them.", TrafficOf)
	SeriesQuestion     = newQuestion("series", "Show traffic over time", "Sums up the requests to services by buckets of time: counts, failures and latencies of all operations together, or of those that match.", SeriesOf)
	EdgesQuestion      = newQuestion("edges", "List calls between services", "Lists the calls between services that spans show, each with the confidence that it still happens and, on request, whether the code declares it.", EdgesOf)
	ServicesQuestion   = newQuestion("services", "Show the service map", "Lists services with their versions and repositories, and the calls between them and to services that send no spans.", ServicesOf)
	DeadRoutesQuestion = newQuestion("dead-routes", "List routes that are never called", "Lists routes and procedures of the code that no span shows since a given time. Those whose service sends no spans are counted separately.", DeadRoutes)
	StatsQuestion      = newQuestion("stats", "Count services and calls", "Counts services, operations and calls, and how many are joined to code, by rule.", StatsOf)
	TracesQuestion     = newQuestion("traces", "List the newest traces", "Lists the newest traces that have a span of a service, an operation, a failure or a duration, each with its services, duration and failures.", TracesOf)
	TraceQuestion      = newQuestion("trace", "Show a trace as a tree", "Reads a trace's spans from the log and returns each with its duration, status, the code that handles it and the last change to that code, and the deploy or command before the trace.", TraceOf)
	WhyQuestion        = newQuestion("why", "Find what led to a failing or slow span", "Ranks the commits, edits, commands and dependencies that most plausibly led to a failing or slow span, each with its probability and evidence, and says if nothing recorded explains it.", WhyOf)
)
