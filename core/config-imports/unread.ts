import type { Draft } from './draft.ts';

/** Reasons why settings have no counterpart, by pattern. The first match applies. */
const reasons: readonly [RegExp, string][] = [
  [
    /^(system|ray_init|global_profiler|hydra|lora)(\.|$)|(^|\.)(fsdp_config|megatron|profiler|checkpoint|model|ref|data_loader_seed)(\.|$)/,
    'the trainer runs on one device and plans its memory itself',
  ],
  [
    /n_gpus_per_node|nnodes|gpu_memory|tensor_model_parallel|micro_batch|batched_tokens|eager|free_cache|dynamic_bsz|max_token_len|ulysses|torch_compile|balance_batch|dataloader|num_workers|vllm|gradient_checkpointing|bf16|fp16|deepspeed|load_format|dtype|max_num_seqs|disable_log|chunked_prefill|engine|use_ref|tp_size_check|strategy$/,
    'the trainer runs on one device and plans its memory itself',
  ],
  [
    /(^|\.)(project_name|experiment_name|logger|run_name|report_to|log_\w+|logging_\w+|generations_to_log_to_wandb|default_\w+_dir|output_dir|rollout_data_dir|validation_data_dir|push_to_hub|hub_\w+|wandb_\w+)(\.|$)/,
    'every run is recorded in its folder',
  ],
  [
    /^data\.|dataset|_prompt_length$|prompt_key|reward_model|custom_reward_function|tokenizer/,
    'episodes come from environments, not from a data set',
  ],
];

const other = 'no such setting exists here, or it is not known';

/** Notes the settings that were not read, grouped by the reason. */
export function noteUnread(draft: Draft): void {
  const { from } = draft;
  const used = new Set(
    ['train', 'val'].flatMap((split) =>
      from.has(`es_manager.${split}.env_configs.tags`) ? (from.list(`es_manager.${split}.env_configs.tags`) ?? []) : [],
    ),
  );
  const isUsed = (path: string) => {
    const [, tag] = /^custom_envs\.([^.]+)/.exec(path) ?? [];
    return tag === undefined || used.has(tag);
  };
  const unread = from.unread().filter(isUsed);
  const grouped = Map.groupBy(unread, (path) => reasons.find(([pattern]) => pattern.test(path))?.[1] ?? other);
  for (const [reason, paths] of grouped) draft.note('no_counterpart', `${paths.join(', ')}: ${reason}.`);
}
