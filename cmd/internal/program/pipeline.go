package program

import (
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/installed"
)

// PipelineUsage returns the verb pipeline without what it does.
func PipelineUsage() *cobra.Command {
	return &cobra.Command{
		Use:   "pipeline {run|lint|test|streams|list|create|blobl} ...",
		Short: "Run and check your own Benthos pipelines",
		Long: `Run, lint and test Benthos configs with Recount's plugins: the input and output
recount_log, the output recount_project, and the processors. The remaining arguments
are Benthos' own command line; recount pipeline --help prints it.

A config that reads or writes the log without seed_brokers uses the log of the data
directory, or of the server that runs on it. recount_project needs exclusive use of the
data directory: stop the server, or pass the config to it with up --pipeline.

Benthos is in a program of its own, recount-pipeline, which this verb starts: it must
be beside recount or on the PATH.`,
		Example: `  recount pipeline lint my.yaml
  recount pipeline test ./configs/...
  recount pipeline run my.yaml
  recount pipeline list inputs`,
		DisableFlagParsing: true,
	}
}

// Pipeline replaces this process by recount-pipeline, which has Benthos and the verbs up and
// pipeline with the same flags, so that a command line means the same in both. It returns only with
// an error.
func Pipeline(con *connect.Connector) error {
	path, err := installed.Beside(installed.Pipeline)
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", con.Home(path), syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()))
}
