package api

import "github.com/recountdb/recount/query/state"

// The types of a node's status are in a package of their own.
type (
	StatusRequest    = state.StatusRequest
	Status           = state.Status
	WatchStatus      = state.WatchStatus
	ErasingStatus    = state.ErasingStatus
	TokensStatus     = state.TokensStatus
	LogStatus        = state.LogStatus
	SpoolStatus      = state.SpoolStatus
	SpoolServer      = state.SpoolServer
	ProjectionStatus = state.ProjectionStatus
	VectorShard      = state.VectorShard
	PartitionLag     = state.PartitionLag
	IntentStatus     = state.IntentStatus
	IntentShard      = state.IntentShard
	Recent           = state.Recent
)

// RecentCommands is the maximum number of commands that Recent counts.
const RecentCommands = state.RecentCommands
