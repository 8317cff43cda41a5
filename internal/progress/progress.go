// Package progress says how far a long operation is. Who draws it need not know the operations.
package progress

// Progress is the progress of a long-running operation.
type Progress struct {
	Phase   string `json:"phase" example:"replay" doc:"The current phase: replay, catch up, switch, compare."`
	Done    int64  `json:"done" example:"50000" doc:"Events processed so far."`
	Total   int64  `json:"total" example:"100000" doc:"Total number of events."`
	Elapsed int64  `json:"elapsed_ms" example:"1200" doc:"Milliseconds since the operation began."`
}
