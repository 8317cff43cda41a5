// Command recall measures what `recount hook AGENT --install --recall` puts into an agent's context,
// on sessions of agents that were imported into a running server. It asks as of the moment of each
// prompt and failure, so that only what happened before is known.
//
//	go -C bench run ./recall replay -server URL -out items.jsonl WORKSPACE=DIR…
//	go -C bench run ./recall score labels.tsv items.jsonl
//	go -C bench run ./recall met -server URL -part held WORKSPACE=DIR…
//	go -C bench run ./recall earlier -server URL WORKSPACE=DIR…
//	go -C bench run ./recall latency -bin $PWD/bin -n 1000 DIR…
//
// README.md says where the sessions come from and how items were labelled.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	verbs := map[string]func(context.Context, []string) error{"replay": replay, "score": score, "earlier": earlier, "met": met, "latency": latency}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: recall replay|score|met|earlier|latency …")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}
