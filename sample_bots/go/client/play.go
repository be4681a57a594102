package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "greedy-go/rummypb"
)

const (
	// Patience is how long a referee is looked for when no running match asks for more.
	Patience = 10 * time.Second

	firstBackoff   = 50 * time.Millisecond
	longestBackoff = time.Second
)

// codeNames are the names of the status codes as gRPC's documents write them.
var codeNames = map[codes.Code]string{
	codes.OK:                 "OK",
	codes.Canceled:           "CANCELLED",
	codes.Unknown:            "UNKNOWN",
	codes.InvalidArgument:    "INVALID_ARGUMENT",
	codes.DeadlineExceeded:   "DEADLINE_EXCEEDED",
	codes.NotFound:           "NOT_FOUND",
	codes.AlreadyExists:      "ALREADY_EXISTS",
	codes.PermissionDenied:   "PERMISSION_DENIED",
	codes.ResourceExhausted:  "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION",
	codes.Aborted:            "ABORTED",
	codes.OutOfRange:         "OUT_OF_RANGE",
	codes.Unimplemented:      "UNIMPLEMENTED",
	codes.Internal:           "INTERNAL",
	codes.Unavailable:        "UNAVAILABLE",
	codes.DataLoss:           "DATA_LOSS",
	codes.Unauthenticated:    "UNAUTHENTICATED",
}

// Main plays with the address and the token of the environment and returns the exit code: 0 when
// the referee has ended the stream or a signal came, 1 when it refused or could not be reached, 2
// when the environment is not right.
func Main(bot *Bot, getenv func(string) string, stderr io.Writer) int {
	address := getenv("RUMMY_REFEREE")
	if address == "" {
		fmt.Fprintln(stderr,
			"RUMMY_REFEREE must be set: the referee's address, HOST:PORT or unix:PATH")
		return 2
	}
	trust, err := trusted(getenv("RUMMY_TLS_CA"))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := Play(ctx, bot, address, getenv("RUMMY_TOKEN"), trust); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// trusted returns the credentials for a PEM file of whom to trust; without a file there is no TLS.
func trusted(file string) (credentials.TransportCredentials, error) {
	if file == "" {
		return insecure.NewCredentials(), nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		var problem *fs.PathError
		if errors.As(err, &problem) {
			err = problem.Err
		}
		return nil, fmt.Errorf("RUMMY_TLS_CA: %s cannot be read: %w", file, err)
	}
	certificates := x509.NewCertPool()
	if !certificates.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("RUMMY_TLS_CA: %s holds no certificate in PEM form", file)
	}
	return credentials.NewClientTLSFromCert(certificates, ""), nil
}

// Play keeps a stream to the referee until that ends one cleanly while no match is running, or
// until the context is done.
//
// A lost stream is dialled again for [Patience], or for the reconnect time of the running matches
// if that is longer. The error is for the bot's author: the referee refused or stayed out of reach.
func Play(
	ctx context.Context,
	bot *Bot,
	address, token string,
	trust credentials.TransportCredentials,
) error {
	lostAt := time.Now()
	backoff := firstBackoff
	for {
		wasWelcome, err := session(ctx, bot, address, token, trust)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil && !bot.IsPlaying() {
			return nil
		}
		end := status.Convert(err)
		if !isPassing(end.Code()) {
			return fmt.Errorf("the referee at %s refused: %s", address, text(end))
		}
		if wasWelcome {
			lostAt = time.Now()
			backoff = firstBackoff
		}
		tried := time.Since(lostAt)
		if tried+backoff > max(Patience, bot.ReconnectTime()) {
			return fmt.Errorf("no referee at %s in %.1f s: %s", address, tried.Seconds(), text(end))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, longestBackoff)
	}
}

// isPassing tells whether a stream that ended like this is worth another try. Any other status is
// an answer that will not change.
func isPassing(code codes.Code) bool {
	switch code {
	case codes.OK, codes.Unavailable, codes.ResourceExhausted, codes.Unknown, codes.Internal,
		codes.Canceled, codes.DeadlineExceeded:
		return true
	default:
		return false
	}
}

func text(end *status.Status) string {
	name, known := codeNames[end.Code()]
	if !known {
		name = end.Code().String()
	}
	return name + ": " + end.Message()
}

// session runs one stream to its end. It tells whether the referee said welcome; the error is nil
// when the referee has ended the stream with status OK.
//
// Each stream has a connection of its own: a shared one would wait out pauses that it chooses by
// itself before it dials again.
func session(
	ctx context.Context,
	bot *Bot,
	address, token string,
	trust credentials.TransportCredentials,
) (wasWelcome bool, err error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(trust))
	if err != nil {
		return false, status.Error(codes.InvalidArgument, err.Error())
	}
	defer connection.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	stream, err := pb.NewPlayServiceClient(connection).Play(ctx)
	if err != nil {
		return false, err
	}
	// An error of Send only says that the stream is over; Recv then says why.
	if stream.Send(bot.Hello()) != nil {
		_, err = stream.Recv()
		return false, err
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return wasWelcome, nil
		}
		if err != nil {
			return wasWelcome, err
		}
		wasWelcome = wasWelcome || response.GetWelcome() != nil
		if request := bot.Answer(response); request != nil {
			_ = stream.Send(request)
		}
	}
}
