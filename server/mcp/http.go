package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// principalExtra is the key of the principal in the token's information.
const principalExtra = "recount/principal"

// ownerOf returns who made a request: only they may read the answers that were kept for them.
func ownerOf(extra *sdk.RequestExtra) string {
	if extra == nil || extra.TokenInfo == nil {
		return ""
	}
	return extra.TokenInfo.UserID
}
