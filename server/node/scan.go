package node

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Scan implements api.Backend.
func (n *Node) Scan(ctx context.Context, r api.ScanRequest, w io.Writer) error {
	if n.set == nil {
		return noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return err
	}
	if err := n.summing(schemas.TopicCommands); err != nil {
		return err
	}
	ctx, w, done := n.exporters.exporting(ctx, w)
	defer done()
	if r.Format == api.FormatArrow {
		return n.scanArrow(ctx, r, w)
	}
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := commands.Scan(ctx, n.sources(), r.Filters, r.Limit, func(s commands.Scanned) error { return enc.Encode(s) })
	if err != nil {
		return err
	}
	return b.Flush()
}

func (n *Node) scanArrow(ctx context.Context, r api.ScanRequest, w io.Writer) error {
	if r.Limit > 0 {
		return &query.RequestError{Field: "limit", Value: r.Limit, Reason: "not allowed with Arrow, which is written in whole segments; use filters instead"}
	}
	return commands.WriteArrow(ctx, n.sources(), r.Filters, w)
}
