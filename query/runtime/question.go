package runtime

import (
	"context"
	"fmt"
)

// Question is one kind of question, as every door offers it.
type Question[Q, R any] struct {
	// Name is its path in the API and its verb: "traffic".
	Name string
	// Summary and Description say in a line, and in a few, what it answers.
	Summary, Description string
	ask                  func(context.Context, Sources, Q) (R, error)
}

// The questions. Adding one is an entry here, one in Answer, and one at each door.
var (
	TrafficQuestion    = Question[TrafficRequest, TrafficResponse]{"traffic", "What is asked of services", "Counts what each service serves, by route, procedure, topic or table: how often, how often it fails, how long it takes, and the code that handles it.", TrafficOf}
	EdgesQuestion      = Question[EdgesRequest, EdgesResponse]{"edges", "Who calls whom", "Lists the calls between services as spans show them, each with how sure it is that it happens now, and, if asked, whether the code declares it.", EdgesOf}
	ServicesQuestion   = Question[ServicesRequest, ServicesResponse]{"services", "The service map", "Lists services with their versions and the repository each is of, and the calls between them and to what sends no spans.", ServicesOf}
	DeadRoutesQuestion = Question[DeadRoutesRequest, DeadRoutesResponse]{"dead-routes", "What is served and never asked for", "Lists routes and procedures of the code that no span shows since a time, apart from those whose service sends no spans at all.", DeadRoutes}
	StatsQuestion      = Question[StatsRequest, StatsResponse]{"stats", "What is known of what runs", "Counts services, operations and calls, and how much of that is joined to code, by which rule.", StatsOf}
	TraceQuestion      = Question[TraceRequest, TraceResponse]{"trace", "One trace as a tree", "Reads a trace's spans from the log and tells each with its duration, its status, the code that handles it, who changed that last, and the deploy or command before it.", TraceOf}
	WhyQuestion        = Question[SpanWhyRequest, SpanWhyResponse]{"why", "What led to a failing span", "Ranks the commits and commands that most plausibly led to a failing span, each with the evidence and its weight.", WhyOf}
)

// Answer answers the question of a name: request is its request, and response a
// pointer to its response.
func Answer(ctx context.Context, s Sources, question string, request, response any) error {
	for _, to := range []func(context.Context, Sources, string, any, any) (bool, error){
		TrafficQuestion.answer, EdgesQuestion.answer, ServicesQuestion.answer, DeadRoutesQuestion.answer,
		StatsQuestion.answer, TraceQuestion.answer, WhyQuestion.answer,
	} {
		if mine, err := to(ctx, s, question, request, response); mine {
			return err
		}
	}
	return fmt.Errorf("question %q about what runs with %T and %T: there is none", question, request, response)
}

func (q Question[Q, R]) answer(ctx context.Context, s Sources, name string, request, response any) (mine bool, err error) {
	in, asks := request.(Q)
	out, takes := response.(*R)
	if name != q.Name || !asks || !takes {
		return false, nil
	}
	*out, err = q.ask(ctx, s, in)
	return true, err
}

// Answerer answers questions about what runs, in this process or elsewhere: Runtime
// fills in the response, which is a pointer, of the question of a name.
type Answerer interface {
	Runtime(ctx context.Context, question string, request, response any) error
}

// Ask asks a question. A request that cannot be answered is refused before it is
// sent, with a *query.RequestError.
func Ask[Q, R any](ctx context.Context, of Answerer, q Question[Q, R], request Q) (response R, err error) {
	if c, ok := any(request).(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return response, err
		}
	}
	err = of.Runtime(ctx, q.Name, request, &response)
	return response, err
}
