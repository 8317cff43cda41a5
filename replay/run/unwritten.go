package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
)

// isUnwritten matches the question of a step that stands for a change of a file whose text is not known.
func isUnwritten(a replay.Ask) bool { return a.Kind == replay.AskUnwritten }

// unwritten refuses a run that would come to a change of a file whose text is not known: nothing can be run in its
// place, and what follows would work on another file. It may begin if the file is there as the change left it, if the
// caller goes on without the step, or if steps that fail are skipped.
func (r *runner) unwritten(ctx context.Context) error {
	var numbers, texts []string
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		policy, own := r.Steps[i]
		if !own {
			policy = r.Policy
		}
		at := slices.IndexFunc(s.Asks, isUnwritten)
		if at < 0 || r.Without[i] || policy.OnFailure == OnFailureSkip {
			continue
		}
		if _, done := r.past(s); done {
			continue
		}
		if _, held, err := r.satisfied(ctx, i, map[int]verdict{}); err != nil {
			return err
		} else if !held {
			numbers = append(numbers, fmt.Sprint(i+1))
			texts = append(texts, fmt.Sprintf("step %d, %s", i+1, s.Asks[at].Text))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if n := len(texts) - 3; n > 0 {
		texts = append(texts[:3], fmt.Sprintf("and %d more", n))
	}
	return fmt.Errorf("nothing was run: %s (--without %s)", strings.Join(texts, "; "), strings.Join(numbers, ","))
}
