package verbs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/query/commands/ask"
)

// Show returns the verb show, which prints on t what by answers. object, if not nil, shows the object of
// an agent that a reference names if it names no command, and reports whether there is one.
func Show(t *render.Terminal, by Narrator, object func(ctx context.Context, by Answers, ref string, proof bool) (shown bool, err error)) *cobra.Command {
	var proof bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything known about one command or one object of an agent",
		Long: `Show everything known about one command, with its event. ID is an event's id, a prefix
of one, or a position such as recount.commands/0/42. Exits with 1 if there is none.

The full id of an agent's event or object, or its position, shows its text, its
versions, what led to it and what replaced it (see recount ask).

The line changed has the first ten files that were seen to change while a command ran;
--json has all.

For a command, the last lines are its edges to earlier commands (why) and to later ones
(then); the verbs why and stitch follow them further.`,
		Example: `  recount show 018f3c2a-9d1e
  recount show recount.commands/0/42 --json
  recount show recount.agents/0/7`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return by.Asking(cmd.Context(), func(by Answers) error {
				r, err := by.Show(cmd.Context(), args[0])
				if err != nil && object != nil {
					if shown, oerr := object(cmd.Context(), by, args[0], proof); shown || oerr != nil {
						return oerr
					}
				}
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(r)
				}
				var around ask.StitchResponse
				if err := answer(cmd.Context(), by, "stitch", ask.StitchRequest{Ref: r.ID.String(), Walk: ask.Walk{Depth: 1}}, &around); err != nil {
					return err
				}
				commandview.Show(t, r, around, proof, time.Now())
				return nil
			})
		},
	}
	c.Flags().BoolVar(&proof, "proof", false, "print the proof: the steps by which the answer was computed")
	return c
}
