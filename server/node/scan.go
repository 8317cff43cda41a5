package node

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/httpapi"
)

// Scan is Backend.Scan.
func (n *Node) Scan(ctx context.Context, r httpapi.ScanRequest, w io.Writer) error {
	if n.set == nil {
		return noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return err
	}
	if r.Format == httpapi.FormatArrow {
		return n.scanArrow(ctx, r, w)
	}
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := query.Scan(ctx, n.sources(), r.Since, r.Until, r.Limit, func(s query.Scanned) error { return enc.Encode(s) })
	if err != nil {
		return err
	}
	return b.Flush()
}

func (n *Node) scanArrow(ctx context.Context, r httpapi.ScanRequest, w io.Writer) error {
	if r.Limit > 0 {
		return &query.RequestError{Field: "limit", Value: r.Limit, Reason: "not with Arrow, which is written by whole segments; bound it by since and until"}
	}
	p, release, err := n.set.Acquire(segment.Name)
	if err != nil {
		return err
	}
	defer release()
	_, err = p.(*segment.Projection).WriteIPC(ctx, w, segment.Filter{From: r.Since, To: r.Until}, segment.IPCStream)
	return err
}
