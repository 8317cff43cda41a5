package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds the prompts. They name the calls to make rather than make them, so that the model
// sees only what it needs.
func (s *Server) addPrompts() {
	for _, p := range []struct {
		name, description, argument, about, text string
		required                                 bool
	}{
		{
			"start_task", "Begin a task with what is known about it.", "task", "what is to be done", `Task: %s

Before you read files: call context with the task, impact with the symbols that will change, and evidence with the task's words for decisions and earlier attempts. Then say in three lines what you will change, what it reaches, and which tests to run.`, true,
		},
		{
			"explain_failure", "Find out why something failed, and what fixed it last time.", "about", "a command's words or id, a test, a trace; empty: the newest failure", `Explain this failure: %s

Call why with it. If a cause is a command, read it with commands id; if it is a change, call diff for its commits; if it is a trace, call runtime view=trace. Say the cause with its evidence, what fixed it last time if anything did, and what you would do now. Say so if nothing recorded explains it.`, false,
		},
		{
			"review_change", "Review the change between two revisions.", "range", "REV..REV, default HEAD~1..HEAD", `Review the change %s.

Call diff with impact=true for its two revisions, impact with diff for the tests and owners, and stale for what it leaves behind. Report: what breaks whom, what no test reaches, whom to ask, and what to run.`, false,
		},
	} {
		s.sdk.AddPrompt(&sdk.Prompt{
			Name: p.name, Description: p.description,
			Arguments: []*sdk.PromptArgument{{Name: p.argument, Description: p.about, Required: p.required}},
		}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			about := abridged(r.Params.Arguments[p.argument], maxPromptArgument)
			switch {
			case about != "":
			case p.required:
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s: %s is missing: %s", p.name, p.argument, p.about)}
			case p.name == "review_change":
				about = "HEAD~1..HEAD"
			default:
				about = "the newest failure here"
			}
			return &sdk.GetPromptResult{
				Description: p.description,
				Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf(p.text, about)}}},
			}, nil
		})
	}
}

// maxPromptArgument is the maximum length of a prompt's argument in bytes.
const maxPromptArgument = 16 << 10
