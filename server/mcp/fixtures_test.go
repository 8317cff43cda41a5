package mcp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/server/mcp"
)

// withFixtures returns a server that has, besides the real tools, resources and prompts, those that
// the official conformance suite calls by name. It is the real server otherwise: its middleware,
// sessions, limits and transports.
func withFixtures(o mcp.Options) *mcp.Server {
	return mcp.NewWith(o, func(so *sdk.ServerOptions) {
		//lint:ignore SA1019 the suite speaks the versions before 2026-07-28
		so.Capabilities.Logging = &sdk.LoggingCapabilities{}
		so.CompletionHandler = func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "1"}, Total: 1}}, nil
		}
		so.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
		so.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
	}, func(s *sdk.Server) {
		fixtureContent(s)
		fixtureCalls(s)
		fixtureQuestions(s)
		fixtureResources(s)
		fixturePrompts(s)
	})
}

// onePixel returns a picture.
func onePixel() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// silence returns a sound of no samples, in the format WAVE.
func silence() []byte {
	b := []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00")
	for _, v := range []any{uint16(1), uint16(1), uint32(8000), uint32(8000), uint16(1), uint16(8)} {
		b, _ = binary.Append(b, binary.LittleEndian, v) // of fixed size
	}
	return append(b, "data\x00\x00\x00\x00"...)
}

func text(s string) *sdk.TextContent { return &sdk.TextContent{Text: s} }

func embedded(uri, media, s string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: media, Text: s}}
}

// fixture registers a tool whose handler returns the content of its answer.
func fixture(s *sdk.Server, name, schema string, do func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error)) {
	s.AddTool(&sdk.Tool{Name: name, Description: "a fixture of the conformance suite", InputSchema: json.RawMessage(schema)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			content, err := do(ctx, r)
			if err != nil {
				return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{text(err.Error())}}, nil
			}
			return &sdk.CallToolResult{Content: content}, nil
		})
}

const noArguments = `{"type":"object"}`

// fixtureContent registers the tools whose answers have each kind of content.
func fixtureContent(s *sdk.Server) {
	picture := &sdk.ImageContent{Data: onePixel(), MIMEType: "image/png"}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":       {text("This is a simple text response for testing.")},
		"test_image_content":     {picture},
		"test_audio_content":     {&sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"}},
		"test_embedded_resource": {embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			text("Multiple content types test:"), picture,
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		fixture(s, name, noArguments, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil })
	}
	fixture(s, "test_error_handling", noArguments, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("an error that is intended, for testing")
	})
	fixture(s, "json_schema_2020_12_tool", `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false
	}`, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return []sdk.Content{text("ok")}, nil
	})
}

// fixtureCalls registers the tools that say something while they work.
func fixtureCalls(s *sdk.Server) {
	fixture(s, "test_tool_with_logging", noArguments, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			//lint:ignore SA1019 the suite speaks the versions before 2026-07-28
			if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Logger: "fixture", Data: line}); err != nil {
				return nil, err
			}
		}
		return []sdk.Content{text("Tool with logging executed successfully")}, nil
	})
	fixture(s, "test_tool_with_progress", noArguments, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		for _, done := range []float64{0, 50, 100} {
			if r.Params.GetProgressToken() == nil {
				break
			}
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: done, Total: 100}); err != nil {
				return nil, err
			}
		}
		return []sdk.Content{text("Tool with progress executed successfully")}, nil
	})
	fixture(s, "test_reconnection", noArguments, func(_ context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		if r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		return []sdk.Content{text("Reconnection test completed successfully")}, nil
	})
}

// fixtureQuestions registers the tools that ask the client.
func fixtureQuestions(s *sdk.Server) {
	fixture(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
		func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
			var in struct{ Prompt string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			//lint:ignore SA1019 the suite speaks the versions before 2026-07-28
			got, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(in.Prompt)}}})
			if err != nil {
				return nil, err
			}
			said, _ := got.Content.(*sdk.TextContent)
			if said == nil {
				return nil, fmt.Errorf("the client sampled %T, want text", got.Content)
			}
			return []sdk.Content{text("LLM response: " + said.Text)}, nil
		})
	elicit := func(name, schema, in, out string) {
		fixture(s, name, in, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
			var given struct{ Message string }
			if err := json.Unmarshal(r.Params.Arguments, &given); err != nil {
				return nil, err
			}
			if given.Message == "" {
				given.Message = "Please fill in"
			}
			got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: given.Message, RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return nil, err
			}
			content, err := json.Marshal(got.Content)
			if err != nil {
				return nil, err
			}
			return []sdk.Content{text(fmt.Sprintf(out, got.Action, content))}, nil
		})
	}
	const completed = "Elicitation completed: action=%s, content=%s"
	elicit("test_elicitation", `{"type":"object","properties":{
		"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`,
		`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, "User response: action=%s, content=%s")
	elicit("test_elicitation_sep1034_defaults", `{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`,
		noArguments, completed)
	elicit("test_elicitation_sep1330_enums", `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`,
		noArguments, completed)
}

func fixtureResources(s *sdk.Server) {
	read := func(c sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := c
			c.URI = r.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
		}
	}
	plain := read(sdk.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."})
	s.AddResource(&sdk.Resource{URI: "test://static-text", Name: "static-text", MIMEType: "text/plain"}, plain)
	s.AddResource(&sdk.Resource{URI: "test://watched-resource", Name: "watched-resource", MIMEType: "text/plain"}, plain)
	s.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "static-binary", MIMEType: "image/png"},
		read(sdk.ResourceContents{MIMEType: "image/png", Blob: onePixel()}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return read(sdk.ResourceContents{MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)})(ctx, r)
		})
}

func fixturePrompts(s *sdk.Server) {
	prompt := func(name string, arguments []string, say func(in map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "a fixture of the conformance suite"}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Description: a, Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			out := &sdk.GetPromptResult{}
			for _, c := range say(r.Params.Arguments) {
				out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(in map[string]string) []sdk.Content {
		return []sdk.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in["arg1"], in["arg2"]))}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(in map[string]string) []sdk.Content {
		return []sdk.Content{embedded(in["resourceUri"], "text/plain", "Embedded resource content for testing."), text("Please process the embedded resource above.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: onePixel(), MIMEType: "image/png"}, text("Please analyze the image above.")}
	})
}
