package node

import (
	"context"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// SealEarly makes segments seal after few rows, so that a test has sealed ones.
func SealEarly(c *Config, rows int) { c.sealRows = rows }

// BatchRecords sets the maximum number of records in a batch of the built-in streams.
func BatchRecords(c *Config, n int) { c.streamRecords = n }

// ForgetWait sets how long a request to forget waits for the rebuild of projections.
func ForgetWait(c *Config, d time.Duration) { c.forgetWait = d }

// MinFree sets below how much free space the embedded log refuses appends.
func MinFree(c *Config, bytes int64) { c.minFree = bytes }

// Sources returns the sources of the node's questions.
func (n *Node) Sources() commands.Sources { return n.sources() }

// CanAppend returns the error with which Append would refuse the event, or nil.
func (n *Node) CanAppend(e schemas.Event) error {
	_, _, err := n.app.intake.Prepare(context.Background(), e)
	return err
}
