package node

import (
	"context"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// SealEarly makes segments seal after few rows, so that a test has sealed ones.
func SealEarly(c *Config, rows int) { c.sealRows = rows }

// ForgetWait says how long a request to forget waits for projections to be rebuilt.
func ForgetWait(c *Config, d time.Duration) { c.forgetWait = d }

// Sources are what the node's questions are asked of, for those that have no
// method of their own.
func (n *Node) Sources() commands.Sources { return n.sources() }

// CanAppend says whether Append takes the event.
func (n *Node) CanAppend(e schemas.Event) error {
	_, _, err := n.app.prepare(context.Background(), e)
	return err
}
