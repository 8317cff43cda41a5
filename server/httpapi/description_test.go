package httpapi

import "encoding/json"

// OpenAPI returns the description of the API as GET /openapi.json serves it.
func OpenAPI(version string) ([]byte, error) {
	o := Options{Version: version}
	_, h := build(nil, &o)
	return json.MarshalIndent(h.OpenAPI(), "", "  ")
}
