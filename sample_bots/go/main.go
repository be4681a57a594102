// Command greedy-go plays the greedy strategy for whatever referee its environment names.
package main

import (
	"os"

	"greedy-go/client"
	"greedy-go/greedy"
)

func main() {
	bot := client.NewBot("greedy-go", "1.0.0", greedy.New, os.Stderr)
	os.Exit(client.Main(bot, os.Getenv, os.Stderr))
}
