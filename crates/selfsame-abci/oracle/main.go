// Applies CometBFT's own rule to changes of its validators. It reads questions from its input and writes answers to its
// output, as one line of JSON each. `cargo xtask cometbft` builds it beside the engine, from the engine's module.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/types"
)

type validator struct {
	Key   string `json:"key"`
	Power int64  `json:"power"`
}

type question struct {
	Before  []validator `json:"before"`
	Updates []validator `json:"updates"`
}

type answer struct {
	// Why the engine refuses the change; empty if it accepts it.
	Why   string      `json:"why"`
	After []validator `json:"after"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := out.Encode(judge(asked)); err != nil {
			os.Exit(1)
		}
	}
}

// Does what BlockExecutor.applyBlock does with the answer to FinalizeBlock.
func judge(asked question) answer {
	var before []*types.Validator
	for _, one := range asked.Before {
		before = append(before, types.NewValidator(key(one.Key), one.Power))
	}
	set := types.NewValidatorSet(before)
	var updates []abci.ValidatorUpdate
	for _, one := range asked.Updates {
		if one.Power < 0 {
			return answer{Why: "voting power can't be negative"}
		}
		updates = append(updates, abci.UpdateValidator(key(one.Key), one.Power, ""))
	}
	changes, err := types.PB2TM.ValidatorUpdates(updates)
	if err != nil {
		return answer{Why: err.Error()}
	}
	if err := set.UpdateWithChangeSet(changes); err != nil {
		return answer{Why: err.Error()}
	}
	// The resulting state is refused if it has no validator.
	if set.IsNilOrEmpty() {
		return answer{Why: "no validator is left"}
	}
	said := answer{}
	for _, one := range set.Validators {
		said.After = append(said.After, validator{hex.EncodeToString(one.PubKey.Bytes()), one.VotingPower})
	}
	return said
}

func key(text string) ed25519.PubKey {
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes) != ed25519.PubKeySize {
		fmt.Fprintln(os.Stderr, "not a key:", text)
		os.Exit(2)
	}
	return bytes
}
