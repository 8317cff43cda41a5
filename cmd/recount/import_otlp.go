package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) importOTLPCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "otlp FILE...",
		Short: "Import spans from files of OTLP",
		Long: `Import spans from files of OTLP, as collectors and SDKs write them: in JSON, one
document or one a line; in protobuf, as a TracesData or as messages after their
length (the collector's file exporter). gzip and zstd are told by their first
bytes. FILE may be - for the standard input.`,
		Example: `  recount import otlp traces.json
  recount import otlp collector/*.pb.zst
  zcat traces.json.gz | recount import otlp -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.imports(cmd.Context(), importFlags{}, func(im *importer) error { return im.otlp(cmd.Context(), args) })
		},
	}
}

// otlp imports spans from files of OTLP.
func (im *importer) otlp(ctx context.Context, files []string) error {
	im.unit = "span"
	for _, file := range files {
		err := im.open(ctx, file, func(r io.Reader) iter.Seq2[schemas.Event, error] {
			return im.spanEvents(spans.Splitter{Redact: im.redactor, MaxEvent: httpapi.MaxEvent}, r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open imports a file or, for "-", the standard input.
func (im *importer) open(ctx context.Context, path string, read func(io.Reader) iter.Seq2[schemas.Event, error]) error {
	if path == "-" {
		return im.run(ctx, "standard input", read(im.term.In), nil)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return im.stream(ctx, file, func(r io.Reader, _ history.Options) iter.Seq2[schemas.Event, error] { return read(r) })
}

// spanEvents yields the events of a file's exports and skips spans that cannot be stored.
func (im *importer) spanEvents(s spans.Splitter, r io.Reader) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		for export, err := range spans.Exports(r) {
			var skip *spans.SkipError
			if errors.As(err, &skip) {
				if !yield(schemas.Event{}, skip) {
					return
				}
				continue
			}
			if err != nil {
				yield(schemas.Event{}, err)
				return
			}
			res, err := s.Split(export)
			if err != nil {
				if !yield(schemas.Event{}, &spans.SkipError{Where: "an export", Reason: err}) {
					return
				}
				continue
			}
			im.held += int64(res.Spans - res.Refused)
			im.redacted += int64(res.Redacted)
			if res.Refused > 0 && !yield(schemas.Event{}, &spans.SkipError{Where: "refused", Reason: errors.New(res.Problem), Spans: res.Refused}) {
				return
			}
			for _, e := range res.Events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}
