package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// accepted returns the offered media type that an Accept header prefers (RFC 9110, 12.5.1): the one
// with the highest quality, among equals the first offered; "" if the header accepts none of them.
// A missing header accepts every type.
func accepted(header []string, offers ...string) string {
	var ranges []string
	for _, h := range header {
		ranges = append(ranges, strings.Split(h, ",")...)
	}
	best, quality := "", 0.0
	for _, offer := range offers {
		if q := qualityOf(ranges, offer); q > quality {
			best, quality = offer, q
		}
	}
	return best
}

// qualityOf returns the quality of a media type in an Accept header: that of the most specific
// range that matches it, 0 if none does, 1 if there are no ranges.
func qualityOf(ranges []string, media string) float64 {
	typ, _, _ := strings.Cut(media, "/")
	quality, specific, asked := 0.0, -1, false
	for _, r := range ranges {
		name, params, _ := strings.Cut(r, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		asked = true
		rank := -1
		switch name {
		case media:
			rank = 2
		case typ + "/*":
			rank = 1
		case "*/*":
			rank = 0
		}
		if rank <= specific {
			continue
		}
		specific, quality = rank, 1
		for p := range strings.SplitSeq(params, ";") {
			if k, v, ok := strings.Cut(strings.TrimSpace(p), "="); ok && strings.EqualFold(k, "q") {
				if q, err := strconv.ParseFloat(v, 64); err == nil && q >= 0 && q <= 1 {
					quality = q
				}
			}
		}
	}
	if !asked {
		return 1
	}
	return quality
}

// negotiate answers 406 if the client accepts no media type that the operation serves.
func negotiate(hc huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(hc)
	var offers []string
	if ok := hc.Operation().Responses["200"]; ok != nil {
		offers = slices.Sorted(maps.Keys(ok.Content))
	}
	if refused(w, r, offers...) {
		return
	}
	next(hc)
}

// refused answers 406 and returns true if the client accepts none of the offers. A client that
// accepts JSON also accepts lines of JSON.
func refused(w http.ResponseWriter, r *http.Request, offers ...string) bool {
	takes := offers
	if slices.Contains(offers, mediaNDJSON) {
		takes = append(slices.Clone(offers), mediaJSON)
	}
	header := r.Header.Values("Accept")
	if len(offers) == 0 || accepted(header, takes...) != "" {
		return false
	}
	problem(w, http.StatusNotAcceptable, fmt.Sprintf("accept %q: want %s", strings.Join(header, ", "), strings.Join(offers, " or ")))
	return true
}
