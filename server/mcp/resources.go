package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/evidence"
)

// answerURI begins the resource of an answer.
const answerURI = "recount://answer/"

const mediaJSON = "application/json"

// addResources adds the resources: what an answer rests on, and the things that answers name.
func (s *Server) addResources() {
	for _, r := range []struct {
		name, uri, description string
		read                   func(ctx context.Context, b gated, rest string) (any, error)
	}{
		{"event", "recount://event/{id}", "A recorded command or an agent's event: id, a prefix of it, or its position with / as %2F.", readEvent},
		{"symbol", "recount://symbol/{repo}/{name}", "A declaration with its place, signature and documentation; / in repo and name as %2F.", readSymbol},
		{"snapshot", "recount://snapshot/{repo}/{revision}", "What the code graph at a revision holds, with its root hashes.", readSnapshot},
	} {
		prefix, _, _ := strings.Cut(r.uri, "{")
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: r.name, URITemplate: r.uri, Description: r.description, MIMEType: mediaJSON},
			func(ctx context.Context, in *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				ctx, cancel := context.WithTimeout(ctx, callTimeout)
				defer cancel()
				b, release, err := s.o.Open(ctx, false)
				if err != nil {
					return nil, err
				}
				defer release()
				v, err := r.read(ctx, gated{b}, strings.TrimPrefix(in.Params.URI, prefix))
				if err != nil {
					return nil, s.unreadable(in.Params.URI, err)
				}
				body, err := json.Marshal(v)
				if err != nil {
					return nil, err
				}
				return contents(in.Params.URI, body), nil
			})
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "answer", URITemplate: answerURI + "{id}", MIMEType: mediaJSON,
		Description: "What an answer of this session rests on: watermark, filters, proof and data.",
	}, func(_ context.Context, in *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		body, found := s.kept.get(ownerOf(in.Extra), strings.TrimPrefix(in.Params.URI, answerURI))
		if !found {
			return nil, sdk.ResourceNotFoundError(in.Params.URI)
		}
		return contents(in.Params.URI, body), nil
	})
}

func contents(uri string, body []byte) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mediaJSON, Text: string(body)}}}
}

// unreadable returns the error of a resource that cannot be read.
func (s *Server) unreadable(uri string, err error) error {
	if text := explain("resources/read", err); text != "" {
		return sdk.ResourceNotFoundError(uri + ": " + text)
	}
	s.log.Error("mcp resource not read", "uri", uri, "err", err)
	return err
}

func readEvent(ctx context.Context, b gated, rest string) (any, error) {
	ref, err := url.PathUnescape(rest)
	if err != nil {
		return nil, &argumentError{"event", "not a percent-encoded reference"}
	}
	shown, err := b.show(ctx, ref)
	if err == nil {
		return shown, nil
	}
	// It may be an agent's event, which is shown as far as the principal may see it.
	found, failed := evidence.Question.Ask(ctx, b, evidence.Request{Text: ref, Limit: 1, Include: []string{"provenance"}})
	if failed != nil || len(found.Objects) == 0 || !strings.HasPrefix(found.Objects[0].EventID, ref) && found.Objects[0].Position != ref {
		return nil, err
	}
	found.Objects = found.Objects[:1]
	return found, nil
}

// splitTwo returns the repository and the rest of a resource's name.
func splitTwo(rest string) (repo, name string, err error) {
	a, b, found := strings.Cut(rest, "/")
	repo, err = url.PathUnescape(a)
	if err == nil {
		name, err = url.PathUnescape(b)
	}
	if err != nil || !found || name == "" {
		return "", "", &query.RequestError{Field: "uri", Value: abridged(rest, 200), Reason: "want REPO/NAME, each percent-encoded"}
	}
	return repo, name, nil
}

func readSymbol(ctx context.Context, b gated, rest string) (any, error) {
	repo, name, err := splitTwo(rest)
	if err != nil {
		return nil, err
	}
	r, err := code.SymbolsQuestion.Ask(ctx, b, code.SymbolsRequest{Scope: code.Scope{Repo: repo}, Text: name, Tests: true, Limit: 1})
	if err == nil && len(r.Symbols) == 0 {
		err = &query.NotFoundError{Ref: name, Hint: "no such symbol at HEAD of " + repo}
	}
	return r, err
}

func readSnapshot(ctx context.Context, b gated, rest string) (any, error) {
	repo, revision, err := splitTwo(rest)
	if err != nil {
		return nil, err
	}
	return code.ShowQuestion.Ask(ctx, b, code.ShowRequest{Scope: code.Scope{Repo: repo, At: revision}})
}
