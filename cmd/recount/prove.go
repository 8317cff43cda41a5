package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

func (a *app) proveCmd() *cobra.Command {
	var f codeFlags
	var edge string
	var absent bool
	c := &cobra.Command{
		Use:   "prove FROM TO",
		Short: "Prove that the code has, or does not have, an edge",
		Long: `Print a proof that at a commit one symbol calls another (or has an edge of another kind
to it), or with --absent that it does not. verify-proof checks it anywhere, with nothing
but the snapshot's hash. Exits with 1 if the statement is false.`,
		Example: `  recount prove main.run Client.Produce > proof.json
  recount prove conn.Write net.Dial --at v1.18.0
  recount prove kgo.conn kgo.Writer --edge implements
  recount prove Client.Produce os.Exit --absent`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeSymbols(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var wrong error
			err := askCode(cmd.Context(), a, &f, code.ProveQuestion, func(s code.Scope) code.ProveRequest {
				return code.ProveRequest{Scope: s, From: args[0], To: args[1], Edge: edge, Absent: absent}
			}, func(r code.ProveResponse) {
				b, err := r.Evidence.Encode()
				wrong = err
				a.Printf("%s\n", b)
			})
			return errors.Join(err, wrong)
		},
	}
	f.add(c, 0)
	c.Flags().StringVar(&edge, "edge", "calls", "the kind of the edge: calls, may_call, references, implements, extends, …")
	c.Flags().BoolVar(&absent, "absent", false, "prove that there is no such edge")
	return c
}

func (a *app) verifyProofCmd() *cobra.Command {
	var snapshot string
	c := &cobra.Command{
		Use:   "verify-proof FILE",
		Short: "Check a proof, offline",
		Long: `Check a proof printed by prove, with nothing but the file (- is the standard input).
With --snapshot it must be about the snapshot with that hash, which snapshot show
prints; without it, the snapshot is the one that the file names. The file must have
exactly the bytes that prove printed. Exits with 1 if the proof is not valid.`,
		Example: `  recount prove main.run Client.Produce | recount verify-proof -
  recount verify-proof proof.json --snapshot 1f0a9c31…`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var want *schemas.Hash
			if snapshot != "" {
				want = &schemas.Hash{}
				if err := want.UnmarshalText([]byte(snapshot)); err != nil {
					return usage.Errorf("--snapshot: %w", err)
				}
			}
			file, err := a.readFile(args[0], code.MaxProof+1)
			if err != nil {
				return err
			}
			v, err := code.VerifyProof(file, want)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if a.JSON {
				return a.PrintJSON(v.EdgeProof)
			}
			codeview.Proof(a.Terminal, v, want != nil)
			return nil
		},
	}
	c.Flags().StringVar(&snapshot, "snapshot", "", "the hash of the snapshot that the proof must be about")
	return c
}

// readFile reads at most most bytes of a file; - is the standard input.
func (a *app) readFile(name string, most int64) (b []byte, err error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.In, most))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}
