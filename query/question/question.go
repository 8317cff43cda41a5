// Package question is what every kind of question has: a path, what it answers, a check of
// its requests, and how it is answered. A package of questions (query/commands,
// query/code, query/runtime, query/evidence) lists its own in a List; a client is given an
// Answerer, which may be in this process or elsewhere, and asks it with types.
package question

import (
	"context"
	"fmt"
	"strings"
)

// Question is one kind of question: a request Q is answered with an R, from sources S.
// Make it with New.
type Question[S, Q, R any] struct {
	// Path names it, and is its path in the API: "code/callers".
	Path string
	// Summary and Description say in a line, and in a few, what it answers.
	Summary, Description string

	check  func(Q) error
	answer func(context.Context, S, Q) (R, error)
}

// New makes a question. check refuses a request that cannot be answered, whatever is
// known, with a *query.RequestError; answer need not rely on it having been called.
func New[S, Q, R any](path, summary, description string, check func(Q) error, answer func(context.Context, S, Q) (R, error)) Question[S, Q, R] {
	return Question[S, Q, R]{path, summary, description, check, answer}
}

// Name is the question's name among those of its area, and its verb: "callers".
func (q Question[S, Q, R]) Name() string { return q.Path[strings.LastIndexByte(q.Path, '/')+1:] }

// Area is what the question is about: "code". It is empty where Path has no slash.
func (q Question[S, Q, R]) Area() string { return q.Path[:max(0, strings.LastIndexByte(q.Path, '/'))] }

// Answerer answers questions: Answer fills in the response, which is a pointer, of the
// question of a path.
type Answerer interface {
	Answer(ctx context.Context, path string, request, response any) error
}

// Ask asks a question. A request that cannot be answered is refused before it is sent.
func (q Question[S, Q, R]) Ask(ctx context.Context, of Answerer, request Q) (response R, err error) {
	if err := q.check(request); err != nil {
		return response, err
	}
	if err := of.Answer(ctx, q.Path, request, &response); err != nil {
		var none R
		return none, err
	}
	return response, nil
}

// List holds questions that are answered from the same sources.
type List[S any] []interface {
	path() string
	answerAny(ctx context.Context, s S, request, response any) (mine bool, err error)
}

// Add adds a question to the list of its area, and returns it.
func Add[S, Q, R any](all *List[S], q Question[S, Q, R]) Question[S, Q, R] {
	*all = append(*all, q)
	return q
}

// Answer answers the question of a path: request is its request, and response a
// pointer to its response.
func (l List[S]) Answer(ctx context.Context, s S, path string, request, response any) error {
	for _, q := range l {
		if q.path() != path {
			continue
		}
		if mine, err := q.answerAny(ctx, s, request, response); mine {
			return err
		}
	}
	return fmt.Errorf("no query %q with %T and %T is registered", path, request, response)
}

// Paths are those of the list, in its order.
func (l List[S]) Paths() []string {
	paths := make([]string, len(l))
	for i, q := range l {
		paths[i] = q.path()
	}
	return paths
}

func (q Question[S, Q, R]) path() string { return q.Path }

func (q Question[S, Q, R]) answerAny(ctx context.Context, s S, request, response any) (mine bool, err error) {
	in, asks := request.(Q)
	out, takes := response.(*R)
	if !asks || !takes {
		return false, nil
	}
	*out, err = q.answer(ctx, s, in)
	return true, err
}
